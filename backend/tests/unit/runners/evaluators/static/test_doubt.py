"""A finding is no proof where the base itself does not hold in the gate's setting: then a person is asked."""

import pytest

from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.static.baseline import Comparison, Finding
from app.runners.evaluators.static.doubt import SEVERAL, BaseControl, asked, sorted_by_doubt
from app.runners.evaluators.static.ruff_rules import is_fault
from app.runners.evaluators.verdict import VerdictStatus, judge
from app.schemas.questions import FEW_QUESTIONS, QUESTIONS, ProtectedPolicy
from tests.unit.runners.evaluators.static.types_support import check_types

pytestmark = pytest.mark.anyio

RUFF = {"ruff.toml": '[lint]\nselect = ["E", "F", "B"]\n'}
CLEAN = {"a.py": "def f(x):\n    return x\n", "b.py": "def g(x):\n    return x\n"}
MUTABLE = {"a.py": "def f(x=[]):\n    return x\n"}
MYPY = {"mypy.ini": "[mypy]\n"}
TYPED = {"a.py": "def f(x: int) -> int:\n    return x\n", "b.py": "def g(x: int) -> int:\n    return x\n"}
WRONG = {"a.py": "def f(x: int) -> str:\n    return x\n"}


async def lint(context, files, base, **given):
    made = {**context({**base, **files}, base), **given}
    return await RuffLintEvaluator().evaluate("coding", "", made)


async def types(context, files, base, **given):
    made = {**context({**base, **files}, base), **given}
    return await check_types(made)


@pytest.mark.parametrize(
    ("base", "status"),
    [
        pytest.param(CLEAN, "failed", id="the base is clean: a proof"),
        pytest.param(
            {**CLEAN, "c.py": "def h(x={}):\n    return x\n"}, "asks", id="it breaks the rule itself"
        ),
        pytest.param(
            {**CLEAN, "a.py": "import os\n\n\ndef f(x):\n    return x\n"}, "asks", id="findings in this file"
        ),
        pytest.param({**CLEAN, "c.py": "import os\n"}, "failed", id="one of another rule elsewhere"),
        pytest.param(
            {**CLEAN, "c.py": "".join(f"import m{each}\n" for each in range(SEVERAL))}, "asks", id="several"
        ),
    ],
)
async def test_the_base_is_the_control_of_the_linter(context, base, status: str) -> None:
    files = {"a.py": base["a.py"].replace("f(x)", "f(x=[])")}
    result = await lint(context, files, {**RUFF, **base})
    verdict = judge([result], [result.evaluator_name]).status
    assert verdict is VerdictStatus(status), result.feedback
    assert bool(result.questions) is (status == "asks")
    assert "B006" in result.feedback


OLD_PYTHON = {
    "pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.9"\n[tool.ruff.lint]\nselect = ["F"]\n'
}


@pytest.mark.parametrize(
    ("used", "status"),
    [
        pytest.param("ExceptionGroup  # noqa: F821 - built in from 3.11 on", "asks", id="silenced"),
        pytest.param("ExceptionGroup", "asks", id="open"),
        pytest.param("ExceptionGruop  # noqa: F821 - built in from 3.11 on", "failed", id="another name"),
    ],
)
async def test_a_name_of_newer_versions_of_python_is_a_question(context, used: str, status: str) -> None:
    files = {"a.py": f"def f(x):\n    return {used}\n"}
    result = await lint(context, files, {**OLD_PYTHON, **CLEAN})
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback


MATCHING = {
    "a.py": (
        "from pathlib import PurePath\n\n\ndef f(path: PurePath) -> bool:\n"
        "    return path.full_match('*')  # type: ignore[attr-defined]\n"
    )
}


@pytest.mark.parametrize(
    ("config", "before", "after", "status"),
    [
        pytest.param("", "  # type: ignore[attr-defined]", "", "asks", id="needless in the newest Python"),
        pytest.param(
            "python_version = 3.11\n", "  # type: ignore[attr-defined]", "", "failed", id="fixed version"
        ),
        pytest.param(
            "", "return path", "path.odd()\n    return path", "failed", id="an error in every version"
        ),
    ],
)
async def test_an_error_that_the_newest_python_does_not_have_is_no_proof(
    context, config: str, before: str, after: str, status: str
) -> None:
    base = {"mypy.ini": f"[mypy]\n{config}", **MATCHING}
    result = await types(context, {"a.py": MATCHING["a.py"].replace(before, after)}, base)
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback
    assert "attr-defined" in result.feedback


@pytest.mark.parametrize(
    ("code", "stub", "status"),
    [
        pytest.param("def g(x):\n    return x\n", "b.pyi", "asks", id="its stub has the annotations"),
        pytest.param("def g(x):\n    return x\n", "c.pyi", "failed", id="another module's stub"),
        pytest.param("def g(x):\n    return y\n", "b.pyi", "failed", id="a fault"),
        pytest.param("def g(x: int) -> int:\n    return str(x)\n", "b.pyi", "failed", id="a wrong type"),
    ],
)
async def test_a_module_beside_its_stub_is_asked_about(context, code: str, stub: str, status: str) -> None:
    base = {"mypy.ini": "[mypy]\nstrict = true\n", "a.py": TYPED["a.py"]}
    files = {"b.py": code, stub: "def g(x: int) -> int: ...\n"}
    result = await types(context, files, base)
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback


async def test_a_fault_is_one_whatever_the_base_has(context) -> None:
    base = {**RUFF, **CLEAN, "a.py": "import os\n\n\ndef f(x):\n    return x\n"}
    result = await lint(context, {"a.py": base["a.py"].replace("return x", "return y")}, base)
    assert (result.status, result.questions) == ("failed", []), result.feedback


async def test_policies_decide_what_becomes_of_doubt(context) -> None:
    base = {**RUFF, **CLEAN, "c.py": "def h(x={}):\n    return x\n"}
    strict = await lint(context, MUTABLE, base, protected_policy=ProtectedPolicy.FAIL)
    assert (strict.status, strict.questions) == ("failed", [])
    told = await lint(context, MUTABLE, base, protected_policy=ProtectedPolicy.NOTE)
    assert (told.status, told.metadata["advice_count"]) == ("passed", 1), told.feedback


COMMENTED = {"a.py": "def f(x=[]):  # noqa: B006\n    return x\n"}


@pytest.mark.parametrize(
    ("base", "files", "status"),
    [
        pytest.param(CLEAN, COMMENTED, "failed", id="the base has no such comment"),
        pytest.param({**CLEAN, "c.py": "import os  # noqa: F401,B018\n"}, COMMENTED, "asks", id="it has one"),
        pytest.param(
            {**CLEAN, "c.py": "import os  # noqa: F401,B018\n"},
            {"a.py": COMMENTED["a.py"].replace(": B006", "")},
            "failed",
            id="the comment names no rule",
        ),
        pytest.param(
            {**CLEAN, "c.py": "import os  # noqa: F401,B018\n"},
            {"a.py": "def f(x):\n    return y  # noqa: F821\n"},
            "failed",
            id="it hides a fault",
        ),
    ],
)
async def test_comments_that_silence_the_linter(context, base, files, status: str) -> None:
    result = await lint(context, files, {**RUFF, **base})
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback
    if result.questions:
        assert "hides it, and the base has such comments" in result.questions[0].why


@pytest.mark.parametrize(
    ("base", "files", "status"),
    [
        pytest.param(TYPED, WRONG, "failed", id="the base is clean"),
        pytest.param({**TYPED, "c.py": "x: int = ''\n"}, WRONG, "failed", id="one of another rule elsewhere"),
        pytest.param(
            {**TYPED, "c.py": WRONG["a.py"].replace("f(", "h(")}, WRONG, "asks", id="it has such errors"
        ),
        pytest.param(
            {**TYPED, "c.py": "x: int = ''  # type: ignore[assignment]\n"},
            {"a.py": "def f(x: int) -> str:\n    return x  # type: ignore[return-value]\n"},
            "asks",
            id="a comment names the error, and the base has one such comment",
        ),
        pytest.param(
            TYPED,
            {"a.py": "def f(x: int) -> str:\n    return x  # type: ignore[return-value]\n"},
            "failed",
            id="the base has none",
        ),
        pytest.param(
            {**TYPED, "c.py": "x: int = ''  # type: ignore[assignment]\n"},
            {"a.py": "def f(x: int) -> str:\n    return x  # type: ignore\n"},
            "failed",
            id="it names none",
        ),
    ],
)
async def test_the_base_is_the_control_of_the_type_checker(context, base, files, status: str) -> None:
    result = await types(context, files, {**MYPY, **base})
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback


@pytest.mark.parametrize(
    ("base", "status"),
    [
        pytest.param(TYPED, "failed", id="the base annotates every function"),
        pytest.param({**TYPED, "c.py": "def h(x):\n    return x\n"}, "asks", id="it has bare ones, too"),
    ],
)
async def test_lost_annotations(context, base, status: str) -> None:
    result = await types(context, {"a.py": "def f(x):\n    return x\n"}, {**MYPY, **base})
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback


async def test_a_type_that_a_missing_package_makes_unknown_is_no_proof(context) -> None:
    base = {"mypy.ini": "[mypy]\nstrict = True\nignore_missing_imports = True\n", **TYPED}
    files = {"a.py": "from not_there import Writer\n\n\nclass Mine(Writer):\n    pass\n"}
    result = await types(context, files, base)
    assert judge([result], [result.evaluator_name]).status is VerdictStatus.ASKS, result.feedback
    assert "a type of another package is unknown here" in result.questions[0].why


def found(file: str, line: int = 1, rule: str = "B006", message: str = "m") -> Finding:
    return Finding(file, line, rule, message)


def test_one_certain_finding_leaves_nothing_to_ask() -> None:
    control = BaseControl([found("a.py", 9)], is_fault, "lint error")
    both = Comparison((found("a.py"), found("b.py", rule="E501")), ())
    sorted_ = sorted_by_doubt(both, [control.why], ProtectedPolicy.ASK)
    assert (list(sorted_.doubts), sorted_.new) == ([found("a.py")], (found("b.py", rule="E501"),))
    assert asked(sorted_, "lint error") == {}


def test_a_question_stays_the_same_when_lines_move_and_not_when_a_finding_comes() -> None:
    control = BaseControl([found("z.py")], is_fault, "lint error")

    def key(*findings: Finding) -> str:
        made = sorted_by_doubt(Comparison(findings, ()), [control.why], ProtectedPolicy.ASK)
        (question,) = asked(made, "lint error")[QUESTIONS]
        return question["key"]

    assert key(found("a.py", 1)) == key(found("a.py", 7))
    assert key(found("a.py")) != key(found("a.py"), found("a.py", message="n"))
    assert key(found("a.py")) != key(found("b.py"))


def test_findings_in_many_files_are_one_question() -> None:
    control = BaseControl([found("z.py")], is_fault, "lint error")
    every = tuple(found(f"f{each}.py") for each in range(FEW_QUESTIONS + 1))
    made = sorted_by_doubt(Comparison(every, ()), [control.why], ProtectedPolicy.ASK)
    (question,) = asked(made, "lint error")[QUESTIONS]
    assert f"{FEW_QUESTIONS + 1} files" in question["text"]
    assert question["after"].splitlines()[0].startswith("f0.py: ")
    few = sorted_by_doubt(Comparison(every[1:], ()), [control.why], ProtectedPolicy.ASK)
    assert [each["id"] for each in asked(few, "lint error")[QUESTIONS]] == [each.file for each in every[1:]]
