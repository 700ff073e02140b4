"""Every type checker that can be chosen finds new faults, under rules that nobody but the base chooses."""

import asyncio
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import TypeCheckEvaluator
from app.runners.evaluators.static.path_globs import is_among
from app.runners.evaluators.static.pyright_tool import pyright_settings
from app.runners.evaluators.static.ty_tool import ty_settings
from app.runners.evaluators.static.type_check import TypeCheckEvaluator as Evaluator
from app.schemas.evaluation import CheckerName
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

CLEAN = {"a.py": "import not_installed\n\n\ndef f(x: int) -> int:\n    return x\n"}
WRONG = {"a.py": "def f(x: int) -> str:\n    return x\n"}
INSTALLED: tuple[CheckerName, ...] = ("basedpyright", "ty")
RULES = {
    "basedpyright": {"pyrightconfig.json": '{"exclude": ["old"], /* ours */ "reportReturnType": "none",}'},
    "ty": {"ty.toml": '[src]\nexclude = ["old"]\n[rules]\ninvalid-explicit-return = "ignore"\n'},
}
SILENCED = {
    "e/pyrightconfig.json": '{"ignore": ["**"]}',
    "pyrightconfig.json": '{"ignore": ["**"]}',
    "ty.toml": "[rules]\nall = 'ignore'\n",
    "pyproject.toml": "[tool.ty.rules]\nall = 'ignore'\n[tool.pyright]\nignore = ['**']\n",
    ".gitignore": "*\n",
    "a.py": WRONG["a.py"],
    "b.py": "# pyright: basic, reportReturnType=false\n# type: ignore\n" + WRONG["a.py"],
    "c.py": "def f(x: int) -> str:\n    return x  # type: ignore  # ty: ignore  # pyright: ignore\n",
    "venv/pyvenv.cfg": "",
    "venv/d.py": WRONG["a.py"],
    ".e/e.py": WRONG["a.py"],
    "a.pyi": "def f(x: int) -> str: ...\n",
}


@pytest.mark.parametrize("checker", INSTALLED)
async def test_the_candidate_cannot_silence_it(context, checker: CheckerName) -> None:
    result = await Evaluator(checker=checker, unconfigured="fail").evaluate(
        "coding", "", context(SILENCED, CLEAN)
    )
    found = [each["file"] for each in result.metadata["findings"]]
    assert (result.status, found) == ("failed", [".e/e.py", "a.py", "b.py", "c.py", "venv/d.py"])
    assert result.metadata["files_checked"] == 6
    assert (result.metadata["tool"], result.metadata["configuration"]) == (checker, "built-in")


@pytest.mark.parametrize("checker", INSTALLED)
async def test_old_errors_are_not_counted(context, checker: CheckerName) -> None:
    evaluator = Evaluator(checker=checker)
    result = await evaluator.evaluate("coding", "", context({"a.py": "\n\n" + WRONG["a.py"]}, WRONG))
    assert (result.status, result.metadata["known_count"]) == ("passed", 1)


@pytest.mark.parametrize("checker", INSTALLED)
async def test_the_rules_of_the_base_hold(context, checker: CheckerName) -> None:
    files = {**WRONG, "old/b.py": "x: int = ''\n", "c.py": "x: int = ''\n"}
    result = await Evaluator(checker=checker).evaluate("coding", "", context(files, RULES[checker]))
    assert [each["file"] for each in result.metadata["findings"]] == ["c.py"]
    assert result.metadata["files_checked"] == 2


@pytest.mark.parametrize(
    ("checker", "rules"),
    [
        pytest.param("basedpyright", {"pyrightconfig.json": '{"typeCheckingMode": 7'}, id="broken JSON"),
        pytest.param("ty", {"ty.toml": "[rules]\nno-such = 'maybe'\n"}, id="unknown level"),
        pytest.param("ty", {"ty.toml": "["}, id="broken TOML"),
    ],
)
async def test_an_unusable_configuration_is_replaced_and_named(context, checker: CheckerName, rules) -> None:
    result = await Evaluator(checker=checker).evaluate("coding", "", context(WRONG, rules))
    assert result.status == "failed"
    assert result.metadata["configuration"].startswith("built-in")


async def test_a_missing_checker_is_no_verdict(context) -> None:
    result = await TypeCheckEvaluator(timeout=PATIENCE, checker="pyright").evaluate(
        "coding", "", context(CLEAN)
    )
    assert result.status == "errored"
    assert "pip install 'phaserunner[pyright]'" in result.feedback


async def test_code_over_which_ty_ends_is_no_pass(context) -> None:
    files = {**CLEAN, "b.py": "x = " + "-" * 200_000 + "1\n"}
    result = await Evaluator(checker="ty", unconfigured="fail").evaluate("coding", "", context(files, CLEAN))
    assert result.status == "errored"


@pytest.mark.parametrize(
    ("pattern", "anywhere", "matches", "others"),
    [
        pytest.param("src", False, ["src/a.py"], ["lib/src/a.py", "src2/a.py"], id="directory"),
        pytest.param("./src/", False, ["src/a/b.py"], ["a.py"], id="with dot and slash"),
        pytest.param("**/tests", False, ["tests/a.py", "a/b/tests/c.py"], ["tests2/a.py"], id="anywhere"),
        pytest.param("src/**", False, ["src/a.py", "src/b/c.py"], ["a.py"], id="everything below"),
        pytest.param(
            "src/*_pb2.py*", False, ["src/a_pb2.py", "src/a_pb2.pyi"], ["src/b/a_pb2.py"], id="star"
        ),
        pytest.param(
            "tests/", True, ["a/tests/b.py", "tests/b.py"], ["atests/b.py"], id="as in a .gitignore"
        ),
        pytest.param("a/tests", True, ["a/tests/b.py"], ["b/a/tests/b.py"], id="with a slash it is a path"),
        pytest.param("a.(b", False, ["a.(b"], ["aX(b"], id="nothing else is special"),
    ],
)
def test_patterns(pattern: str, anywhere: bool, matches: list[str], others: list[str]) -> None:
    assert [is_among(name, [pattern], anywhere=anywhere) for name in matches] == [True] * len(matches)
    assert [is_among(name, [pattern], anywhere=anywhere) for name in others] == [False] * len(others)


@pytest.mark.parametrize(
    ("files", "source"),
    [
        pytest.param({}, "built-in", id="none"),
        pytest.param(
            {"pyproject.toml": "[tool.ty]\n[tool.pyright]\n"}, "base pyproject.toml", id="pyproject"
        ),
        pytest.param({"pyproject.toml": "tool = 1\n"}, "built-in", id="not a table"),
        pytest.param({"pyproject.toml": "[tool]\nty = 1\npyright = 1\n"}, "built-in", id="not tables"),
    ],
)
async def test_settings(tree, files, source: str) -> None:
    base: Path = await asyncio.to_thread(tree, files)
    assert pyright_settings(base, "basedpyright").source == source
    assert ty_settings(base).source == source
