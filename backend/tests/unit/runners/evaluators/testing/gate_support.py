"""A small project for tests of the test gate, and how the gate judges it."""

from app.runners.evaluators.deterministic import PytestEvaluator

CODE = {"calc.py": "def add(a, b):\n    return a + b\n"}
TEST = {"tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"}
GOOD = {**CODE, **TEST}
WRONG = {**TEST, "calc.py": "def add(a, b):\n    return a - b\n"}


async def run(context, files, base=None, **options):
    return await judge(context(files, base), **options)


async def judge(made, **options):
    return await PytestEvaluator(**options).evaluate("coding", "", made)
