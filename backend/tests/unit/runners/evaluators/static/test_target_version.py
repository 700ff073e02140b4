"""The linter follows a project that gives up old versions of Python, and no other change of the version."""

from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.static.target_version import raised_target
from tests.patience import PATIENCE

PYPROJECT = '[project]\nname = "a"\nversion = "1"\nrequires-python = "{}"\n'
RUFF = '\n[tool.ruff]\nlint.select = ["FA", "UP", "F"]\n'
OLD = "def f(a):\n    return a\n"
NEW = "def f(a: list[int]) -> list[int]:\n    return a\n"


def _tree(place: Path, files: dict[str, str]) -> Path:
    place.mkdir()
    for name, text in files.items():
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize(
    ("before", "after", "target"),
    [
        pytest.param(">=3.8", ">=3.9", "py39", id="raised"),
        pytest.param(">=3.8", ">=3.10,<4", "py310", id="raised by two, with an upper bound"),
        pytest.param(">=3.8", ">3.9", "py39", id="above a release"),
        pytest.param(">=3.8.1", ">=3.8.5", None, id="raised within a minor version"),
        pytest.param(">=3.9", ">=3.8", None, id="lowered"),
        pytest.param(">=3.8", ">=3.99", None, id="a version that is not known"),
        pytest.param(">=3.8", "about 3.9", None, id="not a specifier"),
    ],
)
def test_requires_python(tmp_path: Path, before: str, after: str, target: str | None) -> None:
    base = _tree(tmp_path / "base", {"pyproject.toml": PYPROJECT.format(before)})
    candidate = _tree(tmp_path / "candidate", {"pyproject.toml": PYPROJECT.format(after)})
    assert raised_target(base, candidate) == target


def test_the_linters_own_target_comes_first(tmp_path: Path) -> None:
    stated = {"pyproject.toml": PYPROJECT.format(">=3.8"), "ruff.toml": 'target-version = "py38"\n'}
    base = _tree(tmp_path / "base", stated)
    required = _tree(tmp_path / "required", {**stated, "pyproject.toml": PYPROJECT.format(">=3.10")})
    both = _tree(tmp_path / "both", {**stated, "ruff.toml": 'target-version = "py310"\n'})
    wrong = _tree(tmp_path / "wrong", {**stated, "ruff.toml": 'target-version = "py3999"\n'})
    assert raised_target(base, required) is None
    assert raised_target(base, both) == "py310"
    assert raised_target(base, wrong) is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    base = _tree(tmp_path / "base", {"pyproject.toml": PYPROJECT.format(">=3.8")})
    assert raised_target(base, _tree(tmp_path / "broken", {"pyproject.toml": "[["})) is None
    assert raised_target(base, _tree(tmp_path / "empty", {})) is None
    assert raised_target(_tree(tmp_path / "none", {}), base) is None


@pytest.mark.anyio
async def test_a_project_drops_an_old_python(context) -> None:
    base = {"pyproject.toml": PYPROJECT.format(">=3.8") + RUFF, "a.py": OLD}

    async def verdict(required: str, code: str = NEW):
        files = {"pyproject.toml": PYPROJECT.format(required) + RUFF, "a.py": code}
        return await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", context(files, base))

    assert "FA102" in (await verdict(">=3.8")).feedback
    assert (await verdict(">=3.9")).passed
    assert "F821" in (await verdict(">=3.9", "def f():\n    return gone\n")).feedback


GENERIC = "def first[T](items: list[T]) -> T:\n    return items[0]\n"
POETRY = '[tool.poetry.dependencies]\npython = "^3.12"\n[tool.ruff]\nline-length = 99\n'
STATED = {"pyproject.toml": PYPROJECT.format(">=3.12")}


@pytest.mark.parametrize(
    ("base", "files", "status"),
    [
        pytest.param(STATED, {"a.py": GENERIC}, "passed", id="stated"),
        pytest.param(
            STATED, {"a.py": GENERIC + "raise PythonFinalizationError\n"}, "failed", id="a later name"
        ),
        pytest.param(
            {"pyproject.toml": PYPROJECT.format(">=3.13")},
            {"a.py": "raise PythonFinalizationError\n"},
            "passed",
            id="a name of the oldest version",
        ),
        pytest.param(
            {"setup.cfg": "[options]\npython_requires = >=3.12\n"},
            {"a.py": GENERIC},
            "passed",
            id="setup.cfg",
        ),
        pytest.param(
            {"pyproject.toml": POETRY},
            {"a.py": GENERIC},
            "passed",
            id="poetry, which ruff does not read",
        ),
        pytest.param({"pyproject.toml": PYPROJECT.format(">=3.9")}, {"a.py": GENERIC}, "failed", id="older"),
        pytest.param(
            {"pyproject.toml": PYPROJECT.format(">=3.9")}, {"a.py": GENERIC, **STATED}, "passed", id="raised"
        ),
        pytest.param({"pyproject.toml": "[["}, {"a.py": "x = 1\n"}, "passed", id="a broken file"),
        pytest.param(
            {"setup.cfg": "["}, {"setup.py": "setup(", "a.py": "x = 1\n"}, "failed", id="broken code"
        ),
        pytest.param({"b.py": GENERIC}, {"a.py": GENERIC}, "passed", id="used at the base"),
        pytest.param({"b.py": GENERIC}, {"a.py": "def f(:\n"}, "failed", id="no syntax of any version"),
    ],
)
@pytest.mark.anyio
async def test_syntax_of_newer_versions(
    context, base: dict[str, str], files: dict[str, str], status: str
) -> None:
    made = context({**base, **files}, {"c.py": "x = 1\n", **base})
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", made)
    assert result.status == status


@pytest.mark.anyio
async def test_newer_syntax_is_asked_about_if_the_project_states_no_version(context) -> None:
    made = context({"a.py": GENERIC}, {"c.py": "x = 1\n"})
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", made)
    assert "does not state the versions" in result.questions[0].why
