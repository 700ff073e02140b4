"""Tests that run away from the candidate's code do not agree with code that forges a pass."""

import pytest

from tests.unit.runners.evaluators.testing.outside_support import judged

pytestmark = pytest.mark.anyio

EVERYTHING = """
class Everything:
    def __init__(self, *_): pass
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __sub__(self, other): return self
    __rsub__ = __sub__
    def __abs__(self): return self
def answer(): return Everything()
"""

FORGERS = {
    "equals everything": (EVERYTHING, "assert forge.answer() == 4"),
    "equals everything from the right": (EVERYTHING, "assert [4] == [forge.answer()]"),
    "is close to everything": (EVERYTHING, "assert abs(forge.answer() - 3.0) < 1e-6"),
    "equals each value of a type": (
        "class Four:\n    def __eq__(self, other): return isinstance(other, int)\n"
        "def answer(): return Four()",
        "assert forge.answer() == 4",
    ),
    "a number of its own": (
        "class Four(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        "def answer(): return Four()",
        "assert forge.answer() == 4",
    ),
    "a text of its own": (
        "class Text(str):\n    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False\n"
        "    __hash__ = str.__hash__\ndef answer(): return Text()",
        "assert forge.answer() == 'four'",
    ),
    "a list of its own": (
        "class Numbers(list):\n    def __eq__(self, other): return True\ndef answer(): return Numbers()",
        "assert forge.answer() == [1, 2]",
    ),
    "the caller's frame": (
        "import sys\ndef answer(): return sys._getframe(1).f_locals['expected']",
        "expected = 4\n    assert forge.answer() == expected",
    ),
    "the collector's objects": (
        "import gc, types\ndef answer():\n"
        "    return next(each['expected'] for each in gc.get_objects()\n"
        "                if isinstance(each, dict) and 'expected' in each)",
        "names = {'expected': 4, 'list': []}\n    assert forge.answer() == names['expected']",
    ),
    "the test's source": (
        "import pathlib, re\ndef answer():\n"
        "    text = pathlib.Path('test_forge.py').read_text()\n"
        "    return int(re.search('== (\\\\d+)', text).group(1))",
        "assert forge.answer() == 4",
    ),
    "a patched runner": (
        "import sys\nif 'pytest' in sys.modules:\n"
        "    sys.modules['pytest'].Function.runtest = lambda self: None\ndef answer(): return 0",
        "assert forge.answer() == 4",
    ),
    "a patched library": (
        "import math\nmath.isclose = lambda *_, **__: True\ndef answer(): return 0.0",
        "import math\n    assert math.isclose(forge.answer(), 4.0)",
    ),
    "a patched builtin": (
        "import builtins\nbuiltins.sum = lambda *_: 4\ndef answer(): return [3]",
        "assert sum(forge.answer()) == 4",
    ),
    "a replaced module": (
        "import sys, types\nfake = types.ModuleType('statistics')\nfake.mean = lambda values: 4\n"
        "sys.modules['statistics'] = fake\ndef answer(): return [0]",
        "import statistics\n    assert statistics.mean(forge.answer()) == 4",
    ),
    "a class that everything belongs to": (
        "class Meta(type):\n    def __instancecheck__(cls, value): return True\n"
        "class Shape(metaclass=Meta): pass\ndef answer(): return 0",
        "assert isinstance(forge.answer(), forge.Shape)",
    ),
    "a lie about the class": (
        "class Liar:\n    @property\n    def __class__(self): return int\ndef answer(): return Liar()",
        "assert isinstance(forge.answer(), int)",
    ),
    "an error only when watched": (
        "import sys\ndef answer():\n    if 'pytest' in sys.modules: return 4\n"
        "    raise ValueError('elsewhere')",
        "assert forge.answer() == 4",
    ),
    "an end only elsewhere": (
        "import os, sys\ndef answer():\n    if 'pytest' in sys.modules: return 4\n    os._exit(0)",
        "assert forge.answer() == 4",
    ),
    "interrupts the tests": (
        "import sys\ndef answer():\n    if 'pytest' in sys.modules: return 4\n    raise KeyboardInterrupt",
        "assert forge.answer() == 4",
    ),
    "no error where one is due": (
        "import pytest\ndef answer(): pytest.fail.Exception = Exception; raise KeyError\n"
        "pytest.raises = lambda *_, **__: __import__('contextlib').suppress(BaseException)",
        "with pytest.raises(ValueError):\n        forge.answer()",
    ),
}


@pytest.mark.parametrize(("code", "body"), FORGERS.values(), ids=FORGERS)
async def test_a_forged_pass_is_a_finding(tree, code: str, body: str) -> None:
    test = f"import pytest\nimport forge\n\ndef test_answer():\n    {body}\n"
    root = tree({"forge.py": code, "test_forge.py": test})
    passed, report = await judged(root)
    assert passed == ["test_forge.py::test_answer"], "the forgery does not work beside the test"
    assert list(report.disagrees) == passed, dict(report.uncarried)


REJECTS = """
from hypothesis import reject

def double(number):
    return number * 2 if number % 2 else reject()
"""
GIVEN = """
from hypothesis import given, strategies

from forge import double

@given(strategies.integers(0, 9))
def test_double(number):
    assert double(number) == number * 2
"""


async def test_rejected_inputs_of_a_test_are_no_pass(tree) -> None:
    passed, report = await judged(tree({"forge.py": REJECTS, "test_forge.py": GIVEN}))
    assert passed == ["test_forge.py::test_double"], "the forgery does not work beside the test"
    assert not report.agrees


async def test_hypothesis_may_look_for_constants_in_the_code(tree) -> None:
    code = "def double(number):\n    return number * 2\n"
    passed, report = await judged(tree({"forge.py": code, "test_forge.py": GIVEN}))
    assert list(report.agrees) == passed == ["test_forge.py::test_double"], dict(report.uncarried)
