"""Code that changes what its tests use besides it is a question; code that only uses it is none."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import ProtectedPolicy
from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

TEST = """import random
import subprocess
import sys

from calc import add

LIMIT = 9
_calls = 0


def test_add():
    global _calls, LIMIT
    _calls, LIMIT = _calls + 1, 8
    dice = random.Random(3)
    one, two = dice.randint(0, 9), dice.randint(0, 9)
    assert add(one, two) == one + two


def test_child():
    done = subprocess.run([sys.executable, "-c", "print(3)"], capture_output=True, text=True)
    assert done.stdout.strip() == str(add(1, 2))


def test_order(monkeypatch):
    monkeypatch.setattr(random, "random", lambda: 1)
    assert add(random.random(), 1) == 2
    assert sorted([3, add(1, 1)]) == [2, 3]
"""
ADD = "def add(a, b):\n    return a + b\n"
BASE = {"calc.py": "def add(a, b):\n    raise NotImplementedError\n", "tests/test_calc.py": TEST}
RANDOM = (
    "import random\n\n\ndef zero(self, low, high):\n    return 0\n\n\nrandom.Random.randint = zero\n\n\n"
    + ADD
)
EXECUTABLE = (
    "import os\nimport sys\n\nif 'pytest' in sys.modules:\n"
    "    sys.executable = os.path.realpath(sys.executable)\n"
    "    sys.executable = f'{os.path.dirname(sys.executable)}/./{os.path.basename(sys.executable)}'\n\n\n"
)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        pytest.param(RANDOM, "random.Random.randint", id="a method"),
        pytest.param(
            "import functools\nimport random\n\n\ndef one():\n    return 1\n\n\n"
            f"random.choice = functools.partial(one)\n\n\n{ADD}",
            "random.choice",
            id="a function that is wrapped",
        ),
        pytest.param(
            "import json\n\n\nclass Never:\n    def __call__(self, text):\n        return 1\n\n\n"
            f"json.loads = Never()\n\n\n{ADD}",
            "json.loads",
            id="an instance",
        ),
        pytest.param(EXECUTABLE + ADD, "sys.executable", id="the interpreter"),
        pytest.param(
            f"import os\n\nos.environ['PYTHONOPTIMIZE'] = '1'\n\n\n{ADD}",
            "os.environ['PYTHONOPTIMIZE']",
            id="the environment of children",
        ),
        pytest.param(
            "import sys\n\n\ndef add(a, b):\n    names = sys._getframe(1).f_globals\n"
            "    if 'LIMIT' in names:\n        names['sorted'] = sorted\n"
            "        names['subprocess'] = subprocess2()\n"
            "    return a + b\n\n\ndef subprocess2():\n    import subprocess\n    class Other:\n"
            "        run = staticmethod(subprocess.run)\n    return Other\n",
            "test_calc.subprocess",
            id="a name of the tests",
        ),
    ],
)
async def test_a_change_is_a_question_that_names_it(context, code, named) -> None:
    result = await run(context, {**BASE, "calc.py": code}, BASE, outside=False)
    assert result.status == "failed", result.feedback
    assert len(result.questions) == 1, result.feedback
    assert f"`{named}`" in result.questions[0].text


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(ADD, id="nothing is changed"),
        pytest.param(
            "import random\nfrom contextlib import contextmanager\n\n\n@contextmanager\ndef fixed():\n"
            "    before, random.Random.randint = random.Random.randint, lambda self, low, high: 4\n"
            "    try:\n        yield\n    finally:\n        random.Random.randint = before\n\n\n"
            "def add(a, b):\n    with fixed():\n        return a + b\n",
            id="it is changed back",
        ),
        pytest.param(
            "import sys\nimport warnings\n\n\ndef hook(*given):\n    sys.stderr.write('oh')\n\n\n"
            f"sys.excepthook = hook\nwarnings.showwarning = hook\n\n\n{ADD}",
            id="hooks that are there to be replaced",
        ),
        pytest.param(
            "import logging\n\n\ndef trace(self, text):\n    self.log(5, text)\n\n\n"
            f"logging.Logger.trace = trace\n\n\n{ADD}",
            id="a new method",
        ),
        pytest.param(
            f"import os\n\nos.environ['CALC_HOME'] = '/x'\n\n\n{ADD}",
            id="another variable of the environment",
        ),
    ],
)
async def test_honest_code_is_asked_nothing(context, code) -> None:
    result = await run(context, {**BASE, "calc.py": code}, BASE, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


async def test_what_the_base_changes_as_well_is_no_question(context) -> None:
    base = {**BASE, "calc.py": RANDOM + "\n\ndef half(a):\n    return a // 2\n"}
    result = await run(context, {**base, "calc.py": RANDOM}, base, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


@pytest.mark.parametrize(("policy", "status"), [("fail", "failed"), ("note", "passed")])
async def test_the_policy_for_protected_files_decides_here_too(context, policy, status) -> None:
    made = {**context({**BASE, "calc.py": RANDOM}, BASE), "protected_policy": ProtectedPolicy(policy)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert (result.status, result.questions) == (status, [])
