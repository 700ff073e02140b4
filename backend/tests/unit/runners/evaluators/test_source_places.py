"""Where a project's modules are imported from."""

from pathlib import Path

import pytest

from app.runners.evaluators.source_places import source_places

WORKSPACE = """[tool.uv.workspace]
members = ["packages/*", "alone"]
exclude = ["packages/old"]
"""


def write(tree: Path, *names: str) -> None:
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()


def test_members_of_a_workspace_have_places_of_modules(tmp_path: Path) -> None:
    write(tmp_path, "packages/one/pyproject.toml", "packages/one/src/one/__init__.py", "alone/pyproject.toml")
    write(tmp_path, "packages/old/pyproject.toml", "packages/notes/README.md", "src/all/__init__.py")
    (tmp_path / "pyproject.toml").write_text(WORKSPACE)
    assert source_places(tmp_path) == ("src", "packages/one/src", "alone")


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("-e ./tests/helpers", ("tests/helpers",)),
        ("--editable=tests/helpers[more]", ("tests/helpers",)),
        ("-e git+https://host/x#egg=x", ()),
        ("tests/helpers", ()),
        ("./lib", ("lib/src",)),
        ("helpers @ ./tests/helpers ; python_version > '3'", ("tests/helpers",)),
        ("-e .", ()),
        ("-e ./tests/..", ()),
        ("-e ./tests/notes", ()),
        ("-e ./linked", ()),
        ("-e ./../beside", ()),
        ("-e ./none", ()),
    ],
)
def test_projects_that_requirement_files_install_have_places_of_modules(
    line: str, places: tuple[str, ...], tmp_path: Path
) -> None:
    tree, beside = tmp_path / "tree", tmp_path / "beside"
    write(beside, "pyproject.toml")
    write(tree, "pyproject.toml", "tests/notes/README.md", "tests/helpers/setup.py", "lib/pyproject.toml")
    write(tree, "lib/src/lib.py", "requirements/test_none.txt")
    (tree / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    (tree / "linked").symlink_to(beside)
    (tree / "requirements/test_none.txt").write_text(f"{line}\nattrs\n")
    assert source_places(tree) == places


@pytest.mark.parametrize(
    "members",
    [
        '["../*"]',
        '["/tmp/*"]',
        '["**x"]',
        '["a\\u0000"]',
        '[""]',
        '["."]',
        '["./"]',
        '"["',
        "[1]",
        "{}",
        '["linked"]',
    ],
)
def test_members_that_are_none_are_ignored(members: str, tmp_path: Path) -> None:
    tree, beside = tmp_path / "tree", tmp_path / "beside"
    write(beside, "pyproject.toml")
    write(tree, "pyproject.toml")
    (tree / "linked").symlink_to(beside)
    (tree / "pyproject.toml").write_text(f"[tool.uv.workspace]\nmembers = {members}\n")
    assert source_places(tree) == ()


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("[testenv]\nsetenv =\n    PYTHONPATH=libs/common\n", ("libs/common",)),
        ("[testenv]\nset_env = PYTHONPATH = {toxinidir}/libs:{tox_root}/more\n", ("libs", "more")),
        ("[testenv]\nsetenv =\n    PYTHONPATH = {toxinidir}\n", ()),
        ("[testenv]\nsetenv =\n    PYTHONPATH = {envsitepackagesdir}/libs:/opt:../libs\n", ()),
        ("[testenv]\nsetenv =\n    OTHER_PYTHONPATH = libs\n", ()),
    ],
)
def test_tox_puts_directories_on_the_import_path(text: str, places: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path, "libs/common/one.py", "more/two.py")
    (tmp_path / "tox.ini").write_text(text)
    assert source_places(tmp_path) == places


@pytest.mark.parametrize(
    "setting",
    [
        '[tool.hatch.build]\ndev-mode-dirs = ["core", "modules/one", "gone"]\n',
        '[tool.hatch.build.targets.wheel]\npackages = ["core/pkg", "modules/one/pkg", "top"]\n',
        '[tool.poetry]\npackages = [{include = "p", from = "core"}, {from = "modules/one"}]\n',
        '[tool.poetry]\npackages = [{from = "./core/"}, 1, {from = [".."]}, {from = "modules/one"}, {}]\n',
        '[tool.hatch.build]\ndev-mode-dirs = ["core", ".", "../core", "/", "core/../..", "modules/one"]\n',
        '[tool.pdm.build]\npackage-dir = "core"\n[tool.uv.build-backend]\nmodule-root = "modules/one"\n',
    ],
)
def test_a_build_backend_names_places_of_modules(setting: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree, "core/pkg/a.py", "modules/one/pkg/b.py", "top/c.py", "../outside/d.py")
    (tree / "pyproject.toml").write_text(setting)
    assert source_places(tree) == ("core", "modules/one")


def test_a_build_backend_may_take_modules_from_the_root(tmp_path: Path) -> None:
    write(tmp_path, "pkg/a.py")
    (tmp_path / "pyproject.toml").write_text('[tool.uv.build-backend]\nmodule-root = ""\n')
    assert source_places(tmp_path) == ()
