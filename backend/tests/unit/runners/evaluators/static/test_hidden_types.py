"""A cast or a variable of type Any that hides a contradiction between plain types is a question."""

import pytest

from app.runners.evaluators.static.any_probes import probes_of, with_probes, with_types
from app.runners.evaluators.static.hidden_types import contradicts
from app.runners.evaluators.static.overload_variants import overload_variants
from app.runners.evaluators.static.type_escapes import without_escapes
from app.runners.evaluators.verdict import VerdictStatus, judge
from app.schemas.questions import ProtectedPolicy
from tests.unit.runners.evaluators.static.types_support import check_types

BASE = {"mypy.ini": "[mypy]\n", "a.py": "def f(x: int) -> int:\n    return x\n"}
HEAD = "import json\nfrom typing import Any, cast\n\n\n"


async def types(context, code, **given):
    made = {**context({**BASE, "a.py": HEAD + code + BASE["a.py"]}, BASE), **given}
    return await check_types(made)


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


WAYS = """from typing import Any as Whatever
from typing import Callable, overload

J = Whatever
WIDTH: J = 5
size: Callable[..., Whatever] = lambda x: len(x)


def at_module_level() -> str:
    return WIDTH


def by_an_alias(x: int) -> str:
    found: J = f(x)
    return found


def in_a_comment(x: int) -> str:
    found = f(x)  # type: Any
    return found


class Box:
    value: int = 5


def by_getattr(box: Box) -> str:
    return getattr(box, "value")


def by_getattribute(box: Box) -> str:
    return object.__getattribute__(box, "value")


def by_vars(box: Box) -> str:
    return vars(box)["value"]


def by_globals(x: int) -> str:
    return globals()["f"](x)


def by_a_callable(x: str) -> str:
    return size(x)


def to_any(x: int) -> Any:
    return f(x)


def by_a_helper(x: int) -> str:
    return to_any(x)


def same(x: Any) -> str:
    return x


def through_a_helper(x: int) -> str:
    return same(f(x))


@overload
def promised(x: int) -> str: ...
@overload
def promised(x: str) -> bytes: ...
def promised(x: int | str) -> str | bytes | int:
    return len(str(x))


"""


@pytest.mark.anyio
async def test_every_way_to_hide_a_contradiction_is_a_question(context) -> None:
    result = await types(context, WAYS)
    assert judge([result], [result.evaluator_name]).status is VerdictStatus.ASKS, result.feedback
    assert [each.text for each in result.questions] == [
        "`a.py` has 12 new type errors (return-value): may that stay?"
    ], result.questions[0].after


HONEST = """from typing import Callable, overload

shown: Callable[..., Any] = lambda x: json.dumps(x)


class Box:
    value: int = 5


def by_getattr(box: Box, name: str) -> str:
    return str(getattr(box, "value")) + getattr(box, "other", name)


def loaded(x: str) -> Any:
    return json.loads(x)


def number(x: str) -> int:
    return loaded(x)


def either(x: int) -> Any:
    return x if x else str(x)


def text(x: int) -> str:
    return either(x)


def told(x: Any) -> str:
    return x if isinstance(x, str) else str(x)


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x: int | str) -> int | str:
    return x * 2 if isinstance(x, int) else x + x


def doubled(x: int) -> str:
    return told(double(x)) + told("a") + shown(x)


"""


@pytest.mark.anyio
async def test_honest_any_and_overloads_are_no_question(context) -> None:
    result = await types(context, HONEST)
    assert (result.status, result.questions) == ("passed", []), result.feedback


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("import typing as t\nx = t.cast(int, y)\n", "import typing as t\nx = (y)\n"),
        ("x = 1  # type: Any\n", "x = 1  \n"),
        ("x = getattr(y, 'a')\n", "x = (y).a\n"),
        ("x = getattr(y, 'a', 1)\n", None),
        ("x = getattr(y, 'not a name')\n", None),
        ("x = globals()['a']\ny = z.__dict__['b']\n", "x = a\ny = (z).b\n"),
        ("globals()['a'] = 1\n", None),
        (
            "if TYPE_CHECKING:\n    from a import b\nelse:\n    from c import b\n",
            "if False: pass\n\nelse:\n    from c import b\n",
        ),
        ("if TYPE_CHECKING:\n    from a import b\nelse:\n    b = object\n", None),
        ("x = cast(A, cast(B, y))\n", "x = ((y))\n"),
    ],
)
def test_further_escapes_are_taken_out(text, left) -> None:
    assert without_escapes(text.encode(), b"") == (None if left is None else left.encode())


def test_overloads_get_their_promises_on_their_lines() -> None:
    text = "@overload\ndef f(x: int) -> str: ...\n@overload\ndef f(x: str) -> int: ...\n"
    text += "def f(\n    x: object,\n) -> object:\n    return x\n"
    one, other = overload_variants(text.encode(), b"")
    assert one.text == b"...\n\n...\n\ndef f(x: int) -> str:\n\n\n    return x\n"
    assert other.text == b"...\n\n...\n\ndef f(x: str) -> int:\n\n\n    return x\n"
    assert one.lines == other.lines == frozenset(range(5, 9))
    assert overload_variants(text.encode(), text.encode()) == []
    assert overload_variants(b"x = (", b"") == []


def test_probes_get_the_one_plain_type_that_meets_them() -> None:
    text = b"from typing import Any\ndef f(x: Any, y: int) -> Any:\n    return x\n"
    probes = probes_of(text, b"")
    kinds = [each.kind for each in probes]
    assert with_probes(text, probes) == text.replace(b"x: Any", f"x: {kinds[0]}".encode()).replace(
        b"-> Any", f"-> {kinds[1]}".encode()
    )
    said = [f'incompatible type "int"; expected "{kinds[0]}"', f'(got "str", expected "{kinds[1]}")']
    plain = frozenset({"int", "str"})
    assert with_types(text, probes, said, plain) == text.replace(b"x: Any", b"x: int").replace(
        b"-> Any", b"-> str"
    )
    unlike = [*said, f'incompatible type "str"; expected "{kinds[0]}"', f'(got "A", expected "{kinds[1]}")']
    assert with_types(text, probes, unlike, plain) == text
    assert probes_of(text, text) == []
