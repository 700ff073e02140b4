"""A version that git knows, the files that a build writes it to, and the day up to which releases count."""

from pathlib import Path

import pytest

from app.workspaces.environments.installing import time_limits
from app.workspaces.environments.plan import plan_for
from app.workspaces.environments.project import project_of
from app.workspaces.environments.versions import described_version, generated_files
from app.workspaces.files.origin import TreeOrigin, month_after, origin_of, write_origin

SCM = '[build-system]\nrequires = ["setuptools-scm"]\n[project]\nname = "demo"\ndynamic = ["version"]\n'
DAY = 86_400


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v1.2.3-0-gabc123", "1.2.3"),
        ("1.2.3-4-gabc123", "1.2.4.dev4+gabc123"),
        ("release-2.0-1-gabc123", "2.1.dev1+gabc123"),
        ("demo-v3.1rc2-5-gabc123", "3.1rc3.dev5+gabc123"),
        ("24.1-7-gabc123", "24.2.dev7+gabc123"),
        ("nightly-3-gabc123", ""),
        ("v1.2.3", ""),
        ("", ""),
    ],
    ids=str,
)
def test_what_git_describes(described: str, version: str) -> None:
    assert described_version(described) == version


def test_git_decides_where_the_project_leaves_it_to_git(tmp_path: Path) -> None:
    tree = write(tmp_path / "base", {"pyproject.toml": SCM, "demo.py": "__version__ = '0.1'\n"})
    write_origin(tree, TreeOrigin(described="v4.5-0-gabc123"))
    project = project_of(tree)
    assert project is not None
    assert project.version == "4.5"
    # An archive of the sources says it itself.
    write(tree, {"PKG-INFO": "Metadata-Version: 2.1\nVersion: 4.4\n"})
    assert getattr(project_of(tree), "version", "") == "4.4"
    stated = write(tmp_path / "other", {"pyproject.toml": '[project]\nname = "demo"\nversion = "7"\n'})
    write_origin(stated, TreeOrigin(described="v4.5-0-gabc123"))
    assert getattr(project_of(stated), "version", "") == "7"


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ('[tool.setuptools_scm]\nversion_file = "src/demo/_version.py"\n', "src/demo/_version.py"),
        ('[tool.setuptools_scm]\nwrite_to = "src/demo/_version.py"\n', "src/demo/_version.py"),
        ('[tool.hatch.build.hooks.vcs]\nversion-file = "demo/_v.py"\n', "demo/_v.py"),
        ('[tool.pdm.version]\nwrite_to = "demo/VERSION"\n', "demo/VERSION"),
    ],
    ids=["setuptools-scm", "setuptools-scm before 8", "hatch-vcs", "pdm"],
)
def test_version_files_are_those_of_the_build(tmp_path: Path, settings: str, place: str) -> None:
    tree = write(tmp_path, {"pyproject.toml": settings})
    files = generated_files(tree, "1.2.dev3+gabc")
    assert list(files) == [place]
    if place.endswith(".py"):
        names: dict[str, object] = {}
        exec(files[place], names)
        assert (names["__version__"], names["version"]) == ("1.2.dev3+gabc", "1.2.dev3+gabc")
        assert names["version_tuple"] == (1, 2, "dev3", "gabc")
    else:
        assert files[place] == "1.2.dev3+gabc\n"
    write(tree, {place: "x"})
    assert generated_files(tree, "1.2") == {}


@pytest.mark.parametrize("key", ["write_to", "version_file"])
def test_a_version_file_may_be_named_in_setup_py(tmp_path: Path, key: str) -> None:
    text = f"from setuptools import setup\nsetup(use_scm_version={{'{key}': 'demo/_version.py'}})\n"
    assert list(generated_files(write(tmp_path, {"setup.py": text}), "1.2")) == ["demo/_version.py"]
    write(tmp_path, {"setup.py": "from setuptools import setup\n\nsetup(use_scm_version=True)\n"})
    assert generated_files(tmp_path, "1.2") == {}


def test_a_template_is_filled_and_calls_nothing(tmp_path: Path) -> None:
    template = 'version_file_template = \'V = "{version}"; X = "{version.__class__}"\''
    text = f'[tool.setuptools_scm]\nversion_file = "v.py"\n{template}\n'
    files = generated_files(write(tmp_path, {"pyproject.toml": text}), "3")
    assert files == {"v.py": 'V = "3"; X = "{version.__class__}"'}


def test_a_template_may_ask_for_literals(tmp_path: Path) -> None:
    text = (
        '[tool.hatch.build.hooks.vcs]\nversion-file = "v.py"\n'
        "template = \"V = {version!r}; T = {version_tuple!r}; W = '{version}'\"\n"
    )
    files = generated_files(write(tmp_path, {"pyproject.toml": text}), "3.1.dev2")
    assert files == {"v.py": "V = '3.1.dev2'; T = (3, 1, 'dev2'); W = '3.1.dev2'"}


@pytest.mark.parametrize("place", ["../up.py", "/etc/x.py", "a/../../x.py", ""], ids=repr)
def test_no_version_file_leaves_the_tree(tmp_path: Path, place: str) -> None:
    text = f'[tool.setuptools_scm]\nversion_file = "{place}"\n'
    assert generated_files(write(tmp_path, {"pyproject.toml": text}), "1") == {}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"committed": "soon", "described": "$(id)-1-gabc1"}', '{"committed": -5}', '"x"'],
    ids=repr,
)
def test_an_origin_that_cannot_be_read_says_nothing(tmp_path: Path, text: str) -> None:
    tree = tmp_path / "base"
    tree.mkdir()
    assert origin_of(tree) == TreeOrigin()
    (tmp_path / "base.origin").write_text(text)
    assert origin_of(tree) == TreeOrigin()


def test_the_candidate_cannot_say_where_the_base_comes_from(tmp_path: Path) -> None:
    tree = write(tmp_path / "base", {"pyproject.toml": SCM, ".origin": '{"described": "v9-0-gabc1"}'})
    assert getattr(project_of(tree), "version", "") == "0"


MADE = 1_704_067_200 + 10 * DAY  # 11 January 2024


@pytest.mark.parametrize(
    ("committed", "now", "day"),
    [
        (MADE, MADE + 300 * DAY, "2024-02-01"),
        (MADE + 15 * DAY, MADE + 300 * DAY, "2024-02-01"),
        (MADE, MADE + 5 * DAY, ""),
        (MADE - 30 * DAY, MADE + 5 * DAY, "2024-01-01"),
        (946_684_800, MADE, ""),
        (0, MADE, ""),
    ],
    ids=["old", "the same month", "this month", "over the end of a year", "made up", "unknown"],
)
def test_the_month_after(committed: int, now: float, day: str) -> None:
    assert month_after(committed, now) == day


def test_only_what_is_not_locked_is_resolved_as_of_then(tmp_path: Path) -> None:
    tree = write(tmp_path / "base", {"pyproject.toml": '[project]\nname = "demo"\nversion = "1"\n'})
    write_origin(tree, TreeOrigin(committed=MADE))
    assert plan_for(tree).newest == "2024-02-01"
    assert plan_for(tree).digest() != plan_for(tree).with_roots(["alpha"]).digest()
    write(tree, {"poetry.lock": '[[package]]\nname = "alpha"\nversion = "1"\n'})
    assert plan_for(tree).newest == ""


def test_an_old_base_gets_its_packages_and_the_first_pytest_that_can_run_its_tests() -> None:
    assert time_limits("2024-02-01") == ["--exclude-newer=2024-02-01"]
    assert time_limits("2021-08-21") == [
        "--exclude-newer=2021-08-21",
        "--exclude-newer-package=pytest=2023-08-01",
    ]
