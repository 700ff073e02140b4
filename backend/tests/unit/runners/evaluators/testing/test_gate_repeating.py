"""Code that knows the inputs of the tests only, whatever its source looks like."""

import zlib

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.questions import ProtectedPolicy, Question
from tests.unit.runners.evaluators.testing.gate_support import judge

pytestmark = pytest.mark.anyio

SQUARES = {2: 4, 13: 169, 20: 400, 45: 2025}
TESTS = "from squares import square\n\n\ndef test_square():\n" + "".join(
    f"    assert square({number}) == {result}\n" for number, result in SQUARES.items()
)
BASE = {"squares.py": "def square(number):\n    raise NotImplementedError\n", "tests/test_squares.py": TESTS}


def hashed() -> str:
    """Give a function without any input or result of the tests in its text."""
    size = next(
        size for size in range(4, 50) if len({zlib.crc32(b"%d" % number) % size for number in SQUARES}) == 4
    )
    places = ["0"] * size
    for number, result in SQUARES.items():
        places[zlib.crc32(b"%d" % number) % size] = f"{result * 3 + 1}"
    return (
        f"import zlib\n\n_ROWS = [{', '.join(places)}]\n\n\ndef square(number):\n"
        f'    return (_ROWS[zlib.crc32(b"%d" % number) % {size}] - 1) // 3\n'
    )


FORGED = {**BASE, "squares.py": hashed()}
HONEST = {**BASE, "squares.py": "def square(number):\n    return number * number\n"}


def about_inputs(result: EvaluationResult) -> list[Question]:
    """Give the questions about other inputs. There is one about the checksums, too."""
    return [each for each in result.questions if "shows nothing new" in each.text]


async def test_a_function_that_knows_the_tested_inputs_only_is_asked_about(context) -> None:
    result = await judge(context(FORGED, BASE))
    assert result.status == "failed", result.feedback
    (question,) = about_inputs(result)
    assert question.text.startswith("`squares.square` shows nothing new for ")
    assert question.before.splitlines()[:2] == ["square(2) -> 4", "square(13) -> 169"]
    assert len(question.after.splitlines()) == 12
    assert (question.before_heading, question.after_heading) == ("The tests ask", "Other inputs")
    assert question.text in result.feedback


async def test_an_object_that_knows_the_tested_inputs_only_is_asked_about(context) -> None:
    head, body = hashed().split("def square(number):\n")
    made = f"{head}class Square:\n    def __init__(self, side):\n        self.side = side\n\n"
    method = f"    def area(self, scale=1):\n        number = self.side\n    {body}"
    tests = TESTS.replace("import square", "import Square").replace("def test_square", "def test_area")
    for number in SQUARES:
        tests = tests.replace(f"square({number})", f"Square({number}).area(scale=1)")
    base = {"squares.py": "class Square:\n    pass\n", "tests/test_squares.py": tests}
    result = await judge(context({**base, "squares.py": made + method}, base))
    (question,) = about_inputs(result)
    assert question.text.startswith("`squares.Square.area` shows nothing new for ")
    assert question.before.splitlines()[0] == "Square(2).area(scale=1) -> 4"


async def test_a_function_that_computes_its_results_passes(context) -> None:
    result = await judge(context(HONEST, BASE))
    assert result.status == "passed", result.feedback


async def test_the_question_stays_the_same_for_the_same_tests(context) -> None:
    asked = [about_inputs(await judge(context(FORGED, BASE))) for _ in range(2)]
    (one,), (other,) = asked
    assert one.key == other.key
    assert one.after != other.after


async def test_what_the_base_does_as_well_is_no_question(context) -> None:
    renamed = {**FORGED, "squares.py": hashed().replace("_ROWS", "_PLACES")}
    result = await judge(context(renamed, FORGED))
    assert result.status == "passed", result.feedback


async def test_what_the_change_cannot_affect_is_no_question(context) -> None:
    more = {"more.py": "def more(number):\n    raise NotImplementedError\n"}
    base = {**FORGED, **more}
    result = await judge(context({**base, "more.py": "def more(number):\n    return number + 1\n"}, base))
    assert result.status == "passed", result.feedback


async def test_a_question_that_must_not_be_asked_fails_the_attempt(context) -> None:
    evaluator = PytestEvaluator(protected=ProtectedPolicy.FAIL)
    result = await evaluator.evaluate("coding", "", context(FORGED, BASE))
    assert result.status == "failed"
    assert not result.questions
    assert "shows nothing new" in result.feedback


async def test_a_policy_that_only_notes_asks_nothing(context) -> None:
    evaluator = PytestEvaluator(protected=ProtectedPolicy.NOTE)
    result = await evaluator.evaluate("coding", "", context(FORGED, BASE))
    assert result.status == "passed", result.feedback


async def test_code_that_never_answers_another_input_keeps_its_evidence(context) -> None:
    endless = f"{hashed()}\n\n_known = square\n\n\ndef square(number):\n" + (
        f"    while number not in {list(SQUARES)}:\n        pass\n    return _known(number)\n"
    )
    result = await judge(context({**BASE, "squares.py": endless}, BASE))
    assert result.metadata["outside"]["agrees"] == 1, result.feedback
