"""The lint gate finds new faults, and nobody but the base chooses its rules."""

from collections.abc import Mapping

import pytest

from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.protocol import EvaluationCategory, Evaluator

pytestmark = pytest.mark.anyio

CLEAN = {"a.py": "x = 1\n"}
UNUSED = {"a.py": "import os\n"}


async def lint(context, files: Mapping[str, str | bytes], base: Mapping[str, str | bytes] | None = None):
    return await RuffLintEvaluator().evaluate("coding", "", context(files, base))


async def test_clean_code_passes(context) -> None:
    result = await lint(context, CLEAN)
    assert (result.passed, result.score, result.status) == (True, 1.0, "passed")
    assert "passes all lint checks" in result.feedback
    assert result.metadata["error_count"] == 0
    assert result.metadata["files_checked"] == 1


async def test_errors_are_counted_and_named(context) -> None:
    result = await lint(context, {"pkg/a.py": "import os\nimport sys\n", "b.py": "import re\n"})
    assert result.status == "failed"
    assert result.score == 0.7
    assert "3 new lint errors" in result.feedback
    assert result.metadata["error_count"] == 3
    assert "Fix F401 in pkg/a.py line 2: `sys` imported but unused" in result.suggestions


async def test_no_workspace() -> None:
    result = await RuffLintEvaluator().evaluate("coding", "", {})
    assert (result.feedback, result.status, result.score) == ("No workspace to lint", "skipped", 1.0)


async def test_missing_workspace() -> None:
    result = await RuffLintEvaluator().evaluate("coding", "", {"workspace_ref": "/no/such/place"})
    assert (result.status, result.score) == ("failed", 0.0)
    assert "not found" in result.feedback


async def test_missing_base(context) -> None:
    result = await RuffLintEvaluator().evaluate(
        "coding", "", {**context(CLEAN), "base_ref": "/no/such/place"}
    )
    assert result.status == "errored"


async def test_nothing_to_lint_is_skipped(context) -> None:
    result = await lint(context, {"README.md": "x", ".hidden/a.py": "import os\n"})
    assert result.status == "skipped"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"ruff.toml": 'exclude = ["*"]\nforce-exclude = true\n'}, id="excluded by ruff.toml"),
        pytest.param({"pyproject.toml": '[tool.ruff]\nexclude = ["*"]\n'}, id="excluded by pyproject"),
        pytest.param({"ruff.toml": "lint.ignore = ['ALL']\n"}, id="ignored"),
        pytest.param({".gitignore": "*.py\n", ".git/HEAD": "ref: refs/heads/main\n"}, id="gitignored"),
        pytest.param({"a.py": "import os  # noqa\n"}, id="noqa"),
        pytest.param({"a.py": "# ruff: noqa\nimport os\n"}, id="file-wide noqa"),
        pytest.param({"a.py": "# flake8: noqa\nimport os\n"}, id="file-wide flake8 noqa"),
        pytest.param({"a.py": "import os  # ruff: ignore[F401]\n"}, id="ruff: ignore"),
        pytest.param({"pyvenv.cfg": ""}, id="posing as a virtual environment"),
    ],
)
@pytest.mark.parametrize("base", [pytest.param(CLEAN, id="base"), pytest.param(None, id="no base")])
async def test_the_candidate_cannot_silence_it(context, files, base) -> None:
    result = await lint(context, {**UNUSED, **files}, base)
    assert result.status == "failed"
    assert result.metadata["error_count"] == 1


async def test_old_findings_are_shown_and_not_counted(context) -> None:
    result = await lint(context, {"a.py": "\n\nimport os\n"}, UNUSED)
    assert result.status == "passed"
    assert result.score == 1.0
    assert result.metadata["known_count"] == 1
    assert "base has too" in result.feedback


async def test_one_more_of_an_old_finding_counts(context) -> None:
    result = await lint(context, {"a.py": "import os\n", "b.py": "import os\n"}, UNUSED)
    assert [each["file"] for each in result.metadata["findings"]] == ["b.py"]


async def test_a_moved_file_brings_nothing_new(context) -> None:
    assert (await lint(context, {"pkg/a.py": "import os\n"}, UNUSED)).status == "passed"


async def test_the_rules_of_the_base_hold(context) -> None:
    rules = {"pyproject.toml": '[tool.ruff]\nextend-exclude = ["old"]\nlint.select = ["D100"]\n'}
    result = await lint(context, {"a.py": "import os\n", "old/b.py": "x = 1\n"}, rules)
    assert [each["rule"] for each in result.metadata["findings"]] == ["D100"]
    assert result.metadata["configuration"] == "base pyproject.toml"
    assert result.metadata["files_checked"] == 1


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"ruff.toml": "required-version = '==0.0.1'\n"}, id="another version"),
        pytest.param({"ruff.toml": "no-such-setting = 1\n"}, id="unknown setting"),
        pytest.param({"pyproject.toml": "[tool.ruff]\n= broken"}, id="broken file"),
    ],
)
async def test_an_unusable_configuration_is_replaced_and_named(context, config) -> None:
    result = await lint(context, CLEAN, config)
    assert result.status == "passed"
    assert result.metadata["configuration"].startswith("built-in")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            'def f():\n    """No blank lines, long: ' + "x" * 200 + '"""\n    return 1\n', id="style"
        ),
        pytest.param("from typing import List\nx: List[int] = []\n", id="old typing"),
        pytest.param("for l in [1]: print(l)\n", id="E701 E741"),
        pytest.param("x = not 1 in [2]; y = x == False;\n", id="E702 E703 E712 E713"),
        pytest.param("try:\n    x = 1\nexcept:\n    x = 2\n", id="E722"),
    ],
)
async def test_good_code_is_not_failed_for_style(context, source: str) -> None:
    assert (await lint(context, {"a.py": source})).status == "passed"


async def test_re_exports_are_no_fault(context) -> None:
    files = {"pkg/__init__.py": "from pkg.a import x\n", "pkg/a.py": "x = 1\n"}
    assert (await lint(context, files)).status == "passed"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.py": "def f(:\n"}, id="syntax error"),
        pytest.param({"a.py": b"x = '\xff'\n"}, id="not UTF-8"),
        pytest.param({"a.py": b"x = 1\0\n"}, id="a null byte"),
        pytest.param({"a\nb.py": "x = 1\n"}, id="a line break in the name"),
    ],
)
async def test_unreadable_files_fail(context, files) -> None:
    assert (await lint(context, files)).status == "failed"


@pytest.mark.parametrize("name", ["-x.py", "#h.py", "@list.py", "a b.py", "café.py", "q'\".py"])
async def test_odd_names_are_linted(context, name: str) -> None:
    assert (await lint(context, {name: "import os\n"})).metadata["error_count"] == 1


async def test_out_of_time_is_no_verdict(context) -> None:
    result = await RuffLintEvaluator(timeout=0.0001).evaluate("coding", "", context(CLEAN))
    assert result.status == "errored"
    assert "did not finish" in result.feedback


def test_it_is_an_evaluator() -> None:
    evaluator = RuffLintEvaluator()
    assert isinstance(evaluator, Evaluator)
    assert (evaluator.name, evaluator.category) == ("ruff_lint", EvaluationCategory.COMPLIANCE)
