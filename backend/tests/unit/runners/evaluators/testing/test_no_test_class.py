"""A class that pytest would collect by its name and cannot, in a project that turns warnings into errors."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from tests.unit.runners.evaluators.testing.gate_support import CODE, WRONG

pytestmark = pytest.mark.anyio

STRICT = {"pytest.ini": "[pytest]\nfilterwarnings = error\n"}
USED = (
    "from unittest import TestSuite\nfrom calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
)
SHARED = "from calc import TestAdding, add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
ADDING = "\n\nclass TestAdding:\n    def test_more(self):\n        assert add(2, 2) == 4\n"
CONSTRUCTOR = "\n    def __init__(self):\n        pass\n"


async def judge(context, files, base):
    made = {**context(files, base), "goal": "Reword the documentation"}
    return await PytestEvaluator().evaluate("coding", "", made)


async def test_a_helper_that_is_no_test_class_at_the_base_either_is_no_question(context) -> None:
    base = {**CODE, **STRICT, "tests/test_calc.py": USED}
    result = await judge(context, base, base)
    assert (result.status, len(result.questions)) == ("passed", 0)
    wrong = await judge(context, {**base, "calc.py": WRONG["calc.py"]}, base)
    assert wrong.status == "failed"


async def test_a_test_class_that_the_candidate_makes_unfit_counts(context) -> None:
    base = {"calc.py": CODE["calc.py"] + ADDING, **STRICT, "tests/test_calc.py": SHARED}
    unfit = {**base, "calc.py": base["calc.py"] + CONSTRUCTOR}
    assert (await judge(context, base, base)).status == "passed"
    result = await judge(context, unfit, base)
    assert (result.status, len(result.questions)) == ("failed", 0)
