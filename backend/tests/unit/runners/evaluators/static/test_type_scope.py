"""Which files a project has mypy check by its own commands."""

from pathlib import Path

import pytest

from app.runners.evaluators.static.type_scope import has_mypy_hook, places_checked
from app.runners.evaluators.static.type_settings import settings_of

FILES = dict.fromkeys(("src/a.py", "src/shop/core/b.py", "tests/t.py", "one.py", "mypy.toml"), "")


def project(place: Path, files: dict[str, str]) -> Path:
    for name, text in {**FILES, **files}.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("tox.ini", "[testenv]\ncommands =\n    mypy src/ tests\n", ("src", "tests")),
        ("tox.ini", "commands = python -m mypy {posargs:src tests}\n", ("src", "tests")),
        ("pyproject.toml", 'commands = [["mypy", "src/"]]\n', ("src",)),
        ("noxfile.py", 'session.run("mypy", "--strict", "src", "one.py")\n', ("src", "one.py")),
        ("Makefile", "types:\n\tuv run mypy --config-file mypy.toml src && echo ok tests\n", ("src",)),
        (".github/workflows/ci.yml", "- run: poetry run mypy --python-version 3.9 src  # tests\n", ("src",)),
        ("Makefile", "types:\n\tmypy src\n\tmypy tests\n", ("src", "tests")),
        ("tox.ini", "commands = mypy --strict -p shop.core -m one\n", ("src/shop/core", "one.py")),
    ],
    ids=["tox", "posargs", "list", "nox", "make", "workflow", "two calls", "package and module"],
)
def test_calls_name_what_is_checked(tmp_path: Path, name: str, text: str, places: tuple[str, ...]) -> None:
    assert places_checked(project(tmp_path, {name: text})) == places


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tox.ini", "deps =\n    mypy\n    pytest\n"),
        ("tox.ini", "deps = mypy==1.2 src\n"),
        ("Makefile", "\tpip install mypy types-requests src\n"),
        ("Makefile", "\tmypy $(PACKAGE) src\n"),
        ("Makefile", "\tmypy src\n\tmypy .\n"),
        ("Makefile", "\t# mypy src\n"),
        ("Makefile", "\tmypy ../src /src src/../../x\n"),
        ("Makefile", "\tdmypy run src\n\tmypy.ini src\n\tpre-commit-mypy src\n"),
        ("README.md", "mypy src\n"),
    ],
    ids=[
        "a requirement",
        "a pin",
        "pip",
        "a variable",
        "all",
        "a comment",
        "outside",
        "other words",
        "no file",
    ],
)
def test_what_says_nothing(tmp_path: Path, name: str, text: str) -> None:
    assert places_checked(project(tmp_path, {name: text})) == ()


def test_files_of_the_configuration_come_first(tmp_path: Path) -> None:
    files = {"tox.ini": "commands = mypy src\n", "mypy.ini": "[mypy]\nstrict = True\n"}
    root = project(tmp_path, files)
    settings = settings_of(root)
    assert (settings.covers("src/a.py"), settings.covers("tests/t.py")) == (True, False)
    (root / "mypy.ini").write_text("[mypy]\nfiles = tests\n")
    settings = settings_of(root)
    assert (settings.covers("src/a.py"), settings.covers("tests/t.py")) == (False, True)


def test_files_that_cannot_be_read_say_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, {"Makefile": "x" * 300_000 + "\n\tmypy src\n"})
    (root / "tox.ini").symlink_to("/etc/passwd")
    (root / "noxfile.py").write_bytes(b"\xff\xfe mypy\0 src")
    assert places_checked(root) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("repos:\n- repo: https://github.com/pre-commit/mirrors-mypy\n  rev: v1.9.0\n", True),
        ("repos:\n# - repo: https://github.com/pre-commit/mirrors-mypy\n", False),
        ("repos:\n- repo: local\n  hooks:\n  - id: mypy\n    language: system\n", False),
    ],
    ids=["apart", "commented out", "in the project's environment"],
)
def test_a_hook_runs_mypy_apart_from_the_packages(tmp_path: Path, text: str, found: bool) -> None:
    assert not has_mypy_hook(tmp_path)
    (tmp_path / ".pre-commit-config.yaml").write_text(text)
    assert has_mypy_hook(tmp_path) is found


@pytest.mark.parametrize(
    ("settings", "covered"),
    [
        pytest.param("packages = shop", ["src/shop/core/b.py"], id="a package"),
        pytest.param("packages = shop.core\nmypy_path = src", ["src/shop/core/b.py"], id="a package inside"),
        pytest.param("modules = one, shop", ["one.py", "src/shop/core/b.py"], id="modules"),
        pytest.param(
            "packages = elsewhere", ["one.py", "src/a.py", "src/shop/core/b.py", "tests/t.py"], id="unknown"
        ),
        pytest.param("exclude = ^(src|tests)/$", ["one.py"], id="directories are excluded"),
        pytest.param("exclude = /shop/$", ["one.py", "src/a.py", "tests/t.py"], id="a directory inside"),
        pytest.param(
            "exclude = ^one$", ["one.py", "src/a.py", "src/shop/core/b.py", "tests/t.py"], id="no file"
        ),
    ],
)
def test_the_settings_name_what_is_checked(tmp_path: Path, settings: str, covered: list[str]) -> None:
    found = settings_of(project(tmp_path, {"mypy.ini": f"[mypy]\n{settings}\n"}))
    assert [each for each in sorted(FILES) if each.endswith(".py") and found.covers(each)] == covered
