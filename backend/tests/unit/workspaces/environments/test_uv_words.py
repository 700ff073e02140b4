"""What uv is told, what it says, and what an installation must leave alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.workspaces.environments.finishing import AlteredError, configuration_of, seal
from app.workspaces.environments.outcome import Reason
from app.workspaces.environments.pythons import fits
from app.workspaces.environments.uv_words import local_places, reason_of, uv_variables


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PATH": "/bin", "OPENAI_API_KEY": "k", "UV_CACHE_DIR": "/x"}, {}),
        ({"UV_INDEX_URL": "u", "https_proxy": "p"}, {"UV_INDEX_URL": "u", "https_proxy": "p"}),
        ({"PIP_INDEX_URL": "p"}, {"UV_DEFAULT_INDEX": "p"}),
        ({"PIP_INDEX_URL": "p", "UV_INDEX_URL": "u"}, {"UV_INDEX_URL": "u"}),
        ({"UV_INDEX_MINE_PASSWORD": "s", "SSL_CERT_FILE": ""}, {"UV_INDEX_MINE_PASSWORD": "s"}),
    ],
    ids=[
        "nothing else",
        "indexes and proxies",
        "pip's index",
        "uv's own wins",
        "credentials, not what is empty",
    ],
)
def test_uv_is_told_where_packages_are_and_no_secret_of_the_service(
    environ: dict[str, str], expected: dict[str, str]
) -> None:
    assert uv_variables(environ) == expected


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("error: Failed to fetch: `http://127.0.0.1:9/simple/a/`\n  dns error", Reason.OFFLINE),
        (
            "No solution found ... because a was not found in the cache ... network was disabled",
            Reason.OFFLINE,
        ),
        ("Updating https://example.org/a (HEAD)\nerror: Git operation failed", Reason.OFFLINE),
        ("a has no usable wheels and building source distributions is disabled", Reason.BUILD),
        (
            "  x No solution found when resolving dependencies:\n  because only a<2 is available",
            Reason.UNRESOLVABLE,
        ),
        ("error: something new", Reason.FAILED),
    ],
    ids=["no connection", "offline", "no repository", "needs a build", "no such release", "unknown"],
)
def test_complaints_are_sorted(said: str, reason: Reason) -> None:
    assert reason_of(said) is reason


def test_local_indexes_and_certificates_are_found_among_the_settings(tmp_path: Path) -> None:
    wheels, more = tmp_path / "wheels", tmp_path / "more wheels"
    wheels.mkdir()
    more.mkdir()
    links = f"{wheels} https://index.invalid/simple {tmp_path / 'gone'}"
    assert local_places({"UV_FIND_LINKS": links, "UV_INDEX": f"mine={more.as_uri()}"}) == (more, wheels)


@pytest.mark.parametrize(
    ("version", "requires", "pinned", "expected"),
    [
        ("3.11.7", ">=3.9", "", True),
        ("3.11.7", ">=3.12", "", False),
        ("3.11.7", "", "3.11", True),
        ("3.11.7", "", "3.1", False),
        ("3.14.0rc1", ">=3.11", "", True),
    ],
)
def test_versions(version: str, requires: str, pinned: str, expected: bool) -> None:
    assert fits(version, requires, pinned) is expected


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    root = tmp_path / "env"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "python").symlink_to(sys.executable)
    (root / "pyvenv.cfg").write_text("home = /usr/bin\n")
    site = root / "lib" / "python3.11" / "site-packages"
    (site / "package").mkdir(parents=True)
    for name in ("starts.pth", "sitecustomize.py", "module.py", "package/sitecustomize.py"):
        (site / name).write_text("import os\n")
    return root


def test_sealing_removes_what_would_run_at_start_and_all_permission_to_write(environment: Path) -> None:
    seal(environment, Path(sys.executable), configuration_of(environment))
    files = [path for path in environment.rglob("*") if path.is_file() and not path.is_symlink()]
    assert {path.relative_to(environment).as_posix() for path in files} == {
        "pyvenv.cfg",
        "lib/python3.11/site-packages/module.py",
        "lib/python3.11/site-packages/phaserunner-tree.pth",
        "lib/python3.11/site-packages/phaserunner_tree.py",
        "lib/python3.11/site-packages/package/sitecustomize.py",
    }
    assert not any(path.stat().st_mode & 0o222 for path in files)


def test_sealing_joins_the_parts_of_old_namespace_packages(environment: Path, tmp_path: Path) -> None:
    site = environment / "lib" / "python3.11" / "site-packages"
    (site / "zoo" / "bird").mkdir(parents=True)
    (site / "zoo" / "bird" / "__init__.py").write_text("legs = 2\n")
    about = site / "zoo.bird-1.dist-info"
    about.mkdir()
    (about / "namespace_packages.txt").write_text("zoo\n../../elsewhere\nabsent\n")
    (site / "zoo.bird-1-nspkg.pth").write_text("import sys\n")
    seal(environment, Path(sys.executable), configuration_of(environment))
    tree = tmp_path / "tree" / "zoo" / "fish"
    tree.mkdir(parents=True)
    (tree / "__init__.py").write_text("legs = 0\n")
    (tree.parent / "__init__.py").write_text(
        "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
    )
    code = "import zoo.bird, zoo.fish; print(zoo.bird.legs, zoo.fish.legs)"
    for places in ((tree.parents[1], site), (site, tree.parents[1])):
        path = os.pathsep.join(map(str, places))
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "2 0\n", done.stderr
    assert not (environment.parent / "elsewhere").exists()


def test_child_processes_find_the_tree_before_a_release_and_after_the_standard_library(
    environment: Path,
) -> None:
    seal(environment, Path(sys.executable), configuration_of(environment))
    text = next(environment.rglob("phaserunner_tree.py")).read_text()
    code = f"import sys; sys.path[:] = ['/std', '/x/site-packages', '/y']; exec({text!r}); print(sys.path)"
    env = {"PHASERUNNER_TREE": os.pathsep.join(["/tree/src", "/tree"])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['/std', '/tree/src', '/tree', '/x/site-packages', '/y']"


def _replace_program(root: Path) -> None:
    (root / "bin" / "python").unlink()
    (root / "bin" / "python").write_text("#!/bin/sh\n")


def _change_configuration(root: Path) -> None:
    (root / "pyvenv.cfg").write_text("home = /tmp\n")


def _link_elsewhere(root: Path) -> None:
    os.rename(root / "bin", root / "other")
    (root / "bin").symlink_to(root / "other")


@pytest.mark.parametrize("alter", [_replace_program, _change_configuration, _link_elsewhere])
def test_an_installation_that_replaced_the_interpreter_is_refused(environment: Path, alter: object) -> None:
    before = configuration_of(environment)
    assert callable(alter)
    alter(environment)
    with pytest.raises(AlteredError):
        seal(environment, Path(sys.executable), before)
