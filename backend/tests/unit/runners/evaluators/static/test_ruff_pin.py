"""The version of ruff that a project states, in each of the places where projects do so."""

from pathlib import Path

import pytest
from packaging.version import Version

from app.runners.evaluators.static.ruff_pin import pinned_ruff

HOOK = "- repo: https://github.com/astral-sh/ruff-pre-commit\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(".pre-commit-config.yaml", f"{HOOK}  rev: v0.14.2\n", id="a hook"),
        pytest.param(".pre-commit-config.yaml", f'{HOOK}  rev: "v0.14.2"\n', id="in quotes"),
        pytest.param(".pre-commit-config.yaml", f"{HOOK}  # Ruff version.\n  rev: v0.14.2\n", id="a comment"),
        pytest.param(
            ".pre-commit-config.yaml",
            f"{HOOK}  rev: c60c980e561ed3e73101667fe8365c609d19a438  # frozen: v0.14.2\n",
            id="a commit",
        ),
        pytest.param("uv.lock", '[[package]]\nname = "ruff"\nversion = "0.14.2"\n', id="a lock file"),
        pytest.param("pyproject.toml", '[project]\ndependencies = ["ruff==0.14.2"]\n', id="a requirement"),
        pytest.param("requirements/lint.txt", "mypy==1.0.0\nruff == 0.14.2\n", id="a list of requirements"),
        pytest.param("dev-requirements.txt", "ruff==0.14.2 ; python_version > '3'\n", id="with a marker"),
    ],
)
def test_a_version_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert pinned_ruff(tmp_path) == Version("0.14.2")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(".pre-commit-config.yaml", f"{HOOK}  rev: main\n", id="a branch"),
        pytest.param(".pre-commit-config.yaml", "- repo: https://x/black\n  rev: 1.2.3\n", id="another hook"),
        pytest.param("pyproject.toml", '[project]\ndependencies = ["ruff>=0.14.2"]\n', id="a lower bound"),
        pytest.param("pyproject.toml", 'dependencies = ["pytest-ruff==0.14.2"]\n', id="another package"),
        pytest.param("uv.lock", '[[package]]\nname = "mypy"\nversion = "1.0.0"\n', id="another locked one"),
    ],
)
def test_no_version_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert pinned_ruff(tmp_path) is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").mkdir()
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe ruff==0.14.2")
    (tmp_path / "tox.ini").write_text("[testenv]\ndeps = ruff==0.14.2\n")
    assert pinned_ruff(tmp_path) == Version("0.14.2")
