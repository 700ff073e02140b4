"""A small project for tests of the test gate, and how the gate judges it."""

from app.runners.evaluators.deterministic import PytestEvaluator

CODE = {"calc.py": "def add(a, b):\n    return a + b\n"}
TEST = {"tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"}
GOOD = {**CODE, **TEST}
WRONG = {**TEST, "calc.py": "def add(a, b):\n    return a - b\n"}

THREE = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef half(n):\n    return n // 2\n",
    "tests/test_calc.py": (
        "from calc import add, half\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "def test_half():\n    assert half(5) == 2\n"
    ),
}
HALVES = {
    "calc.py": THREE["calc.py"].replace("// 2", "/ 2"),
    "tests/test_calc.py": THREE["tests/test_calc.py"].replace("== 2\n", "== 2.5\n"),
}


async def run(context, files, base=None, **options):
    return await judge(context(files, base), **options)


async def judge(made, **options):
    return await PytestEvaluator(**options).evaluate("coding", "", made)
