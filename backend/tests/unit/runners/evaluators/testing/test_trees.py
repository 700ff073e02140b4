"""What the base's tests see of a candidate, and what they do not."""

import os
from pathlib import Path

import pytest

from app.core.errors import WorkspaceError
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.trees import (
    Layout,
    RunTree,
    lay_out,
    materialise,
    whole_tree,
)
from app.runners.evaluators.tree_files import tree_files
from app.workspaces.files.limits import WorkspaceLimits

BASE = {
    "calc.py": "old",
    "conftest.py": "",
    "tests/test_calc.py": "import calc",
    "tests/helpers.py": "h",
    "tests/data/x.json": "1",
}


def made(tree, candidate, base=BASE, open_paths=()) -> tuple[Layout, Path, Path]:
    here, there = tree(candidate), tree(base)
    return lay_out(there, here, settings_for(here, there), open_paths), here, there


def test_a_candidate_that_changed_code_only_has_one_run(tree) -> None:
    layout, here, there = made(tree, {**BASE, "calc.py": "new"})
    assert layout.own_run is None
    assert layout.laid_over == ()
    assert layout.base_run is not None
    assert layout.base_run.files["calc.py"] == here
    assert layout.base_run.files["tests/test_calc.py"] == there
    assert layout.base_sources == ("calc.py",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("test_new.py", id="test file"),
        pytest.param("sub/conftest.py", id="conftest"),
        pytest.param("tests/more.py", id="helper"),
        pytest.param("tests/data/y.json", id="data"),
        pytest.param("sitecustomize.py", id="sitecustomize"),
        pytest.param("lib/usercustomize.py", id="usercustomize"),
        pytest.param("x.pth", id="pth"),
        pytest.param("evil.dist-info/entry_points.txt", id="dist-info"),
        pytest.param("src/evil.egg-info/entry_points.txt", id="egg-info"),
    ],
)
def test_what_is_added_is_not_seen_by_the_tests_of_the_base(tree, name: str) -> None:
    layout, *_ = made(tree, {**BASE, name: "x"})
    assert layout.base_run is not None
    assert name not in layout.base_run.files
    assert (name in layout.own_tests) == name.endswith("test_new.py")


STARTING = {**BASE, "tests/test_calc.py": "import subprocess, calc"}


@pytest.mark.parametrize(
    ("name", "tests", "seen"),
    [
        pytest.param("json.py", STARTING, False, id="a module of Python"),
        pytest.param("src/json.py", STARTING, False, id="on the import path"),
        pytest.param("unittest/__init__.py", STARTING, False, id="a package of Python"),
        pytest.param("encodings/__init__.py", STARTING, False, id="what each interpreter loads"),
        pytest.param("_pytest/__init__.py", STARTING, False, id="a package of pytest"),
        pytest.param("csv.cpython-311-x86_64-linux-gnu.so", STARTING, False, id="compiled"),
        pytest.param("calc2.py", STARTING, True, id="a module of the project"),
        pytest.param("tables/csv.py", STARTING, True, id="in a package"),
        pytest.param("html/index.html", STARTING, True, id="a directory without code"),
        pytest.param("json.txt", STARTING, True, id="no module"),
        pytest.param("json.py", BASE, True, id="tests that start nothing"),
        pytest.param("json/more.py", {**STARTING, "json/__init__.py": ""}, True, id="a package of the base"),
    ],
)
def test_modules_that_stand_in_for_pythons_are_not_seen_by_processes(
    tree, name: str, tests: dict[str, str], *, seen: bool
) -> None:
    layout, *_ = made(tree, {**tests, name: "x"}, tests)
    assert layout.base_run is not None
    assert (name in layout.base_run.files) is seen


@pytest.mark.parametrize(
    "name", ["conftest.py", "tests/test_calc.py", "tests/helpers.py", "tests/data/x.json"]
)
@pytest.mark.parametrize("what", ["changed", "gone"])
def test_the_setting_is_laid_over(tree, name: str, what: str) -> None:
    files = {**BASE, name: "other"} if what == "changed" else {k: v for k, v in BASE.items() if k != name}
    layout, _, there = made(tree, files)
    assert layout.laid_over == (name,)
    assert layout.base_run is not None
    assert layout.base_run.files[name] == there
    assert (layout.own_tests == (name,)) == (what == "changed" and "test_" in name)


def test_an_opened_path_is_the_candidates(tree) -> None:
    candidate = {**BASE, "tests/test_calc.py": "new", "tests/helpers.py": "new", "conftest.py": "new"}
    layout, here, there = made(tree, candidate, open_paths=["tests/*"])
    assert layout.base_run is None
    assert layout.own_tests == ("tests/test_calc.py",)
    more = {**BASE, "tests/test_b.py": "b"}
    layout, here, there = made(
        tree, {**candidate, "tests/test_b.py": "b"}, more, ["tests/test_calc.py", "tests/h*"]
    )
    assert layout.base_run is not None
    assert "tests/test_calc.py" not in layout.base_run.files
    assert layout.base_run.files["tests/helpers.py"] == here
    assert layout.base_run.files["conftest.py"] == there
    assert layout.laid_over == ("conftest.py",)
    assert layout.own_run is not None
    assert layout.own_run.only == {"tests/test_calc.py"}


def test_a_base_without_tests_leaves_the_candidates_own(tree) -> None:
    layout, here, _ = made(tree, {"calc.py": "", "test_calc.py": "x"}, {"calc.py": ""})
    assert layout.base_run is None
    assert layout.own_run is not None
    assert layout.own_run.only is None
    assert set(layout.own_run.files.values()) == {here}


def test_a_directory_that_is_now_a_file_or_a_link_gives_way(tree, tmp_path) -> None:
    base, candidate = (
        tree(BASE),
        tree({"calc.py": "new", "tests": "a file", "conftest.py/x.py": "a directory"}),
    )
    layout = lay_out(base, candidate, settings_for(candidate, base))
    assert layout.base_run is not None
    materialise(layout.base_run, tmp_path / "copy")
    assert (tmp_path / "copy/tests/test_calc.py").read_text() == "import calc"
    assert (tmp_path / "copy/conftest.py").is_file()
    (candidate / "tests").unlink()
    (candidate / "tests").symlink_to(tmp_path)
    layout = lay_out(base, candidate, settings_for(candidate, base))
    assert layout.base_run is not None
    materialise(layout.base_run, tmp_path / "other")
    assert not (tmp_path / "other/tests").is_symlink()


def test_the_modules_that_tests_are_made_of_are_pinned(tree) -> None:
    base = {
        **BASE,
        "tests/test_calc.py": "import hypothesis.strategies, calc\nfrom numpy import x\nfrom . import y",
    }
    layout, *_ = made(tree, base, base)
    assert layout.base_run is not None
    assert {"hypothesis", "numpy", "pytest", "unittest"} <= layout.base_run.pinned
    assert not {"calc", "tests", "helpers"} & layout.base_run.pinned


def test_hard_trees_are_copied_without_what_leads_out(tree, tmp_path) -> None:
    root = tree(
        {"a.py": "a", "__pycache__/a.pyc": "x", ".git/config": "x", ".hidden/b": "b", "d/e/f.txt": "f"}
    )
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("/etc/passwd")
    (root / "in").symlink_to("d/e")
    os.mkfifo(root / "pipe")
    raw = os.path.join(os.fsencode(root), b"\xff\xfe.py")
    with open(raw, "wb") as file:
        file.write(b"x")
    copy = tmp_path / "copy"
    materialise(whole_tree(root), copy)
    assert sorted(os.listdir(os.fsencode(copy))) == [
        b".hidden",
        b"a.py",
        b"d",
        b"in",
        b"loop",
        b"\xff\xfe.py",
    ]
    assert (copy / "in/f.txt").read_text() == "f"


def test_what_vanishes_before_it_is_copied_is_missing(tree, tmp_path) -> None:
    root = tree({"a.py": "a"})
    materialise(RunTree({"a.py": root, "b.py": root}), tmp_path / "copy")
    assert os.listdir(tmp_path / "copy") == ["a.py"]


def test_a_huge_tree_is_refused(tree) -> None:
    root = tree({f"d{number}/x": "" for number in range(4)})
    assert len(tree_files(root, WorkspaceLimits(max_files=4))) == 4
    with pytest.raises(WorkspaceError, match="at most 3 are allowed"):
        tree_files(root, WorkspaceLimits(max_files=3))


def test_a_configuration_below_config_counts_if_pytest_would_find_none(tree) -> None:
    below = {"config/pytest.ini": "[pytest]\naddopts = --cov --import-mode=importlib\n"}
    alone = tree({**BASE, **below})
    found = settings_for(alone, alone)
    assert found.config_file == alone / "config/pytest.ini"
    assert found.arguments[:1] == ("--import-mode=importlib",)
    both = tree({**BASE, **below, "pytest.ini": "[pytest]\n"})
    assert settings_for(both, both).config_file == both / "pytest.ini"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('-m"not slow"', ("-m", "not slow")),
        ("-k'not net' -q", ("-k", "not net")),
        ("-pno:cacheprovider", ("-p", "no:cacheprovider")),
        ('-vm "not slow"', ("-m", "not slow")),
        ("-svk fast", ("-s", "-k", "fast")),
        ("-m slow -vv -rs", ("-m", "slow")),
    ],
)
def test_short_options_count_in_every_form(tree, given: str, kept: tuple[str, ...]) -> None:
    root = tree({**BASE, "pytest.ini": f"[pytest]\naddopts = {given}\n"})
    assert settings_for(root, root).arguments[: len(kept)] == kept


def test_options_of_a_list_count_in_every_form(tree) -> None:
    root = tree(
        {
            **BASE,
            "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-m not slow", "--strict-markers"]\n',
        }
    )
    assert settings_for(root, root).arguments[:3] == ("-m", "not slow", "--strict-markers")
