"""A cast or a variable of type Any that hides a contradiction between plain types is a question."""

import pytest

from app.runners.evaluators.deterministic import TypeCheckEvaluator
from app.runners.evaluators.static.hidden_types import contradicts, without_escapes
from app.runners.evaluators.verdict import VerdictStatus, judge
from app.schemas.questions import ProtectedPolicy

BASE = {"mypy.ini": "[mypy]\n", "a.py": "def f(x: int) -> int:\n    return x\n"}
HEAD = "import json\nfrom typing import Any, cast\n\n\n"


async def types(context, code, **given):
    made = {**context({**BASE, "a.py": HEAD + code + BASE["a.py"]}, BASE), **given}
    return await TypeCheckEvaluator(learns=False).evaluate("coding", "", made)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("def g(x: int) -> str:\n    return cast(str, f(x))\n\n\n", id="a cast"),
        pytest.param("def g(x: int) -> str:\n    return cast(Any, f(x))\n\n\n", id="a cast to Any"),
        pytest.param("def g(x: int) -> str:\n    found: Any = f(x)\n    return found\n\n\n", id="a variable"),
    ],
)
async def test_a_hidden_contradiction_is_a_question(context, code) -> None:
    result = await types(context, code)
    assert judge([result], [result.evaluator_name]).status is VerdictStatus.ASKS, result.feedback
    assert [each.id for each in result.questions] == ["a.py"]
    refused = await types(context, code, protected_policy=ProtectedPolicy.FAIL)
    assert (refused.status, refused.questions) == ("failed", []), refused.feedback


@pytest.mark.anyio
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("def g(x: object) -> str:\n    return cast(str, x)\n\n\n", id="a wider type"),
        pytest.param("def g(x: str | None) -> str:\n    return cast(str, x)\n\n\n", id="one of two types"),
        pytest.param(
            "def g(x: str) -> int:\n    found: Any = json.loads(x)\n    return found['a']\n\n\n",
            id="what no checker knows",
        ),
        pytest.param(
            "def g(x: str) -> dict[str, int]:\n    found: Any = {}\n    found[x] = 1\n    return found\n\n\n",
            id="a value that grows",
        ),
    ],
)
async def test_what_only_the_code_knows_is_no_question(context, code) -> None:
    result = await types(context, code)
    assert (result.status, result.questions) == ("passed", []), result.feedback


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = cast(int, y)\n", "x = (y)\n"),
        ("x = cast(\n    'int',\n    y\n)\n", "x = (\n\ny\n)\n"),
        ("def f():\n    x: Any = 1\n    return x\n", "def f():\n    x = 1\n    return x\n"),
        ("def f():\n    x: Any = 1\n    x = 'a'\n    return x\n", None),
        ("x = cast(int, y,)\n", None),
        ("x = 1\n", None),
        ("x = (\n", None),
    ],
)
def test_escapes_are_taken_out_on_their_lines(text, left) -> None:
    assert without_escapes(text.encode(), b"") == (None if left is None else left.encode())


def test_escapes_of_the_base_stay() -> None:
    assert without_escapes(b"x = 1\ny = cast(int, z)\n", b"y = cast(int, z)\n") is None


@pytest.mark.parametrize(
    ("message", "holds"),
    [
        ('Incompatible return value type (got "int", expected "str")', True),
        ('Argument 1 to "f" has incompatible type "list[int]"; expected "str"', True),
        ('Incompatible types in assignment (expression has type "int", variable has type "bytes")', True),
        ('Type "int" is not assignable to return type "str"', True),
        ('Incompatible return value type (got "object", expected "str")', False),
        ('Incompatible return value type (got "str | None", expected "str")', False),
        ('Incompatible return value type (got "float", expected "int")', False),
        ('Incompatible return value type (got "list[Any]", expected "list[int]")', False),
        ('Need type annotation for "x"', False),
    ],
)
def test_only_plain_types_without_a_common_value_contradict_each_other(message, holds) -> None:
    assert contradicts(message) is holds
