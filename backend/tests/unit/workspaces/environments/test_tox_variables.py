"""Which environment variables of tox the tests of a project get."""

from pathlib import Path

import pytest

from app.workspaces.environments.tox_variables import variables_of_tox

ROOT = Path("/there")


def written(tree: Path, text: str, name: str = "tox.ini") -> dict[str, str]:
    (tree / name).write_text(text)
    return variables_of_tox(tree, ROOT)


@pytest.mark.parametrize(
    ("lines", "variables"),
    [
        pytest.param("setenv = STAGE=testing", {"STAGE": "testing"}, id="one line"),
        pytest.param("set_env =\n  A = 1\n  B = two words\n", {"A": "1", "B": "two words"}, id="two lines"),
        pytest.param("setenv =\n  # A = 1\n  B = 2\n", {"B": "2"}, id="a comment"),
        pytest.param("setenv = A =", {"A": ""}, id="empty"),
        pytest.param("setenv = A = {toxinidir}{/}data", {"A": "/there/data"}, id="the project's directory"),
        pytest.param("setenv = A = {envtmpdir}/data", {}, id="another directory"),
        pytest.param("setenv =\n  {[base]setenv}\n  A = {env:A:1}\n", {}, id="composed"),
        pytest.param("setenv =\n  py311: A = 1\n", {}, id="conditional"),
        pytest.param(
            "setenv =\n  PYTHONPATH = .\n  PYTEST_ADDOPTS = -k x\n  PATH = /x\n  HOME = /x\n", {}, id="ours"
        ),
        pytest.param("setenv = A = a\0b", {}, id="no text of a variable"),
        pytest.param(f"setenv = A = {'a' * 5000}", {}, id="long"),
        pytest.param("setenv = PIPELINE = 1", {"PIPELINE": "1"}, id="no installer"),
        pytest.param("deps = pytest", {}, id="none"),
    ],
)
def test_plain_variables_are_taken(tmp_path: Path, lines: str, variables: dict[str, str]) -> None:
    assert written(tmp_path, f"[testenv]\n{lines}\n") == variables


def test_the_newer_format_of_tox_is_read(tmp_path: Path) -> None:
    assert written(
        tmp_path, '[env_run_base]\nset_env = { A = "1", B = { replace = "env" } }\n', "tox.toml"
    ) == {"A": "1"}


@pytest.mark.parametrize("text", ["no section\n", "[testenv\n", "[testenv:docs]\nsetenv = A = 1\n"])
def test_what_is_no_plain_environment_gives_none(tmp_path: Path, text: str) -> None:
    assert written(tmp_path, text) == {}


def test_many_variables_are_bounded(tmp_path: Path) -> None:
    lines = "".join(f"  A{number} = 1\n" for number in range(1000))
    assert len(written(tmp_path, f"[testenv]\nsetenv =\n{lines}")) == 100
