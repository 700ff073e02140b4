"""Code that changes what its tests use besides it is a question; code that only uses it is none."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.testing.at_base.base import BaseTests
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
        pytest.param(
            f"import json\n\njson.loads.__code__ = (lambda s, **rest: 1).__code__\n\n\n{ADD}",
            "json.loads",
            id="the code of a function",
        ),
        pytest.param(
            "import logging\n\n\nclass Never(logging.RootLogger): ...\n\n\n"
            f"logging.root.__class__ = Never\n\n\n{ADD}",
            "logging.root",
            id="the class of an object",
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
        pytest.param(
            f"import random\n\n\ndef forged(*given):\n    return None\n\n\nrandom._test = forged\n\n\n{ADD}",
            "random._test",
            id="a private function",
        ),
        pytest.param(
            f"import doctest\n\ndoctest.ELLIPSIS_MARKER = 'o'\n\n\n{ADD}",
            "doctest.ELLIPSIS_MARKER",
            id="a constant",
        ),
        pytest.param(
            "import json\n\n\nclass Library(str):\n    def __str__(self):\n        return json.__file__\n\n\n"
            "def loads(text):\n    return 1\n\n\nfile = Library(loads.__code__.co_filename)\n"
            f"loads.__code__ = loads.__code__.replace(co_filename=file)\njson.loads = loads\n\n\n{ADD}",
            "json.loads",
            id="a file that calls itself one of the library",
        ),
    ],
)
async def test_a_change_is_a_question_that_names_it(context, code, named) -> None:
    result = await run(context, {**BASE, "calc.py": code}, BASE, outside=False)
    assert result.status == "failed", result.feedback
    changed = [each.text for each in result.questions if "while the tests run" in each.text]
    assert len(changed) == 1, result.feedback
    assert f"`{named}`" in changed[0]


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
            f"sys.displayhook = hook\nwarnings.showwarning = hook\n\n\n{ADD}",
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
        pytest.param(
            f"import decimal\n\nclass Calc(Exception):\n    LIMIT = 3\n\n\n{ADD}", id="an own exception"
        ),
    ],
)
async def test_honest_code_is_asked_nothing(context, code) -> None:
    result = await run(context, {**BASE, "calc.py": code}, BASE, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


async def test_a_change_that_is_undone_before_the_last_test_ends_is_a_question(context) -> None:
    code = (
        "import random\n\ncalls = []\nbefore = random.Random.randint\n\n\n"
        "def zero(self, low, high):\n    return 0\n\n\ndef add(a, b):\n    calls.append(a)\n"
        "    random.Random.randint = zero if len(calls) == 1 else before\n    return a + b\n"
    )
    base = {**BASE, "tests/test_calc.py": TEST.partition("def test_order")[0]}
    result = await run(context, {**base, "calc.py": code}, base, outside=False, counter_tests="off")
    assert ["`random.Random.randint`" in each.text for each in result.questions] == [True], result.feedback


GOLDEN = {
    "report.py": "def report(path):\n    raise NotImplementedError\n",
    "tests/data/wanted.txt": "3 rows\n",
    "tests/test_report.py": "from pathlib import Path\n\nfrom report import report\n\n"
    "DATA = Path(__file__).parent / 'data'\n\n\ndef test_report():\n"
    "    assert report(DATA) == (DATA / 'wanted.txt').read_text()\n\n\n"
    "def test_kind():\n    assert isinstance(report(DATA), str)\n",
}


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        pytest.param(
            "import atexit\n\n\ndef report(path):\n    wanted = path / 'wanted.txt'\n"
            "    atexit.register(wanted.write_text, wanted.read_text())\n"
            "    wanted.write_text('0')\n    return '0'\n",
            True,
            id="it is written",
        ),
        pytest.param(
            "import os\n\n\ndef report(path):\n    wanted = path / 'wanted.txt'\n"
            "    before = os.stat(wanted)\n    text = wanted.read_text()\n    wanted.write_text(text)\n"
            "    os.utime(wanted, ns=(before.st_atime_ns, before.st_mtime_ns))\n    return '3 rows\\n'\n",
            True,
            id="its time is set back",
        ),
        pytest.param(
            "def report(path):\n    (path / 'other.txt').write_text('1')\n    return '3 rows\\n'\n",
            False,
            id="another file is written",
        ),
    ],
)
async def test_a_file_of_the_tests_that_the_code_writes_is_a_question(context, code, asked) -> None:
    result = await run(context, {**GOLDEN, "report.py": code}, GOLDEN, outside=False, counter_tests="off")
    text = "The code changes `tests/data/wanted.txt` while the tests run: does the goal say so?"
    assert [each.text for each in result.questions] == ([text] if asked else []), result.feedback


async def test_what_the_base_changes_as_well_is_no_question(context) -> None:
    base = {**BASE, "calc.py": RANDOM + "\n\ndef half(a):\n    return a // 2\n"}
    result = await run(context, {**base, "calc.py": RANDOM}, base, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


async def test_a_file_that_an_early_test_of_the_base_writes_is_no_question(context) -> None:
    test = (
        "import json\nfrom pathlib import Path\n\nfrom calc import add\n\n"
        "DATA = Path(__file__).parent / 'sum.json'\n\n\n"
        "def test_sum():\n    DATA.write_text(json.dumps(add(1, 2)))\n    assert DATA.read_text() == '3'\n"
    )
    more = {f"tests/test_more_{n}.py": TEST for n in range(3)}
    base = {"calc.py": ADD, "tests/sum.json": "0", "tests/test_a.py": test, **more}
    result = await run(context, {**base, "calc.py": f"{ADD}\nMORE = 1\n"}, base, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


LOGGING = """import logging

import pytest

from calc import Detailed, add


@pytest.fixture
def detailed():
    logging.setLoggerClass(Detailed)
    yield
    logging.setLoggerClass(logging.Logger)


def test_add(detailed):
    assert add(1, 2) == 3


def test_more():
    assert add(2, 2) == 4
"""
DETAILED = "import logging\n\n\nclass Detailed(logging.Logger):\n    pass\n\n\n"


async def test_what_only_a_fixture_changes_for_a_while_is_no_question(context) -> None:
    base = {"calc.py": DETAILED + ADD, "tests/test_calc.py": LOGGING}
    result = await run(context, {**base, "calc.py": f"{DETAILED}{ADD}\nMORE = 1\n"}, base)
    assert result.status == "passed", result.feedback


@pytest.mark.parametrize(("policy", "status"), [("fail", "failed"), ("note", "passed")])
async def test_the_policy_for_protected_files_decides_here_too(context, policy, status) -> None:
    made = {**context({**BASE, "calc.py": RANDOM}, BASE), "protected_policy": ProtectedPolicy(policy)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert (result.status, result.questions) == (status, [])


async def test_a_change_of_a_package_that_tests_import_is_a_question(context) -> None:
    code = (
        "import importlib\n\n_st = importlib.import_module('hypothesis.strategies')\n\n\n"
        f"def zero():\n    return _st.just(0)\n\n\n_st.integers = zero\n\n\n{ADD}"
    )
    test = (
        "from hypothesis import given\nfrom hypothesis import strategies as st\n\nfrom calc import add\n\n\n"
        "@given(st.integers(), st.integers())\ndef test_add(a, b):\n    assert add(a, b) == a + b\n"
    )
    base = {**BASE, "tests/test_calc.py": test}
    result = await run(context, {**base, "calc.py": code}, base, outside=False, counter_tests="off")
    assert ["`hypothesis.strategies.integers`" in each.text for each in result.questions] == [True]


HELPED = {
    **BASE,
    "tests/test_calc.py": """import os

import pytest

from calc import CalcError, add
from tests import helper
from tests.more import ok


def test_add():
    assert add(1, helper.two()) == (0 if os.environ.get("FORGIVE") else 3)


def test_more():
    assert ok(add(1, 1))


def test_error():
    with pytest.raises(CalcError):
        add("a", 1)
""",
    "calc.py": "class CalcError(ValueError):\n    pass\n\n\n" + BASE["calc.py"],
}
ERRORS = (
    "class CalcError(ValueError):\n    pass\n\n\n"
    "def add(a, b):\n    if not isinstance(a, int):\n        raise CalcError(a)\n    return a + b\n"
)


def helped(code):
    helpers = {
        "tests/__init__.py": "",
        "tests/helper.py": "def two():\n    return 2\n",
        "tests/more.py": "def ok(got):\n    return got == 2\n",
    }
    return {**HELPED, **helpers, "calc.py": code}


@pytest.mark.parametrize(
    ("code", "named"),
    [
        pytest.param(
            "CalcError = Exception\n\n\ndef add(a, b):\n    return a + b\n",
            "CalcError (it is every exception)",
            id="another name of all exceptions",
        ),
        pytest.param(
            ERRORS.replace(
                "class CalcError(ValueError):",
                "class Meta(type):\n    def __subclasscheck__(cls, other):\n        return True\n\n\n"
                "class CalcError(ValueError, metaclass=Meta):",
            ),
            "CalcError (it is every exception)",
            id="a class that says so",
        ),
        pytest.param(f"{ERRORS}\n\nCalcError = (CalcError, Exception)\n", "every exception", id="a tuple"),
        pytest.param(
            ERRORS.replace("(ValueError)", "(ValueError, TypeError, LookupError)"),
            "calc.CalcError (it is ValueError, TypeError, LookupError at once)",
            id="an exception of all kinds",
        ),
        pytest.param(
            f"import os\n\nos.environ['FORGIVE'] = '1'\n\n\n{ERRORS.replace('a + b', '2 * (a == b)')}",
            "os.environ['FORGIVE']",
            id="a variable that only the tests read",
        ),
        pytest.param(
            "import sys\nimport types\n\nsys.modules['tests.more'] = types.ModuleType('tests.more')\n"
            f"sys.modules['tests.more'].ok = lambda got: True\n\n\n{ERRORS}",
            "sys.modules['tests.more']",
            id="a helper of the tests that comes from nowhere",
        ),
    ],
)
async def test_what_tests_expect_cannot_be_widened_unasked(context, code, named) -> None:
    base = helped(HELPED["calc.py"])
    result = await run(context, {**base, "calc.py": code}, base, outside=False, counter_tests="off")
    assert result.status == "failed", result.feedback
    assert [named in each.text for each in result.questions] == [True], result.feedback


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(ERRORS, id="work"),
        pytest.param(ERRORS.replace("(ValueError)", "(ValueError, LookupError)"), id="two kinds at once"),
        pytest.param(
            f"import os\n\nos.environ.setdefault('CALC_HOME', '/x')\n\n\n{ERRORS}", id="another variable"
        ),
    ],
)
async def test_ordinary_exceptions_are_asked_nothing(context, code) -> None:
    base = helped(HELPED["calc.py"])
    result = await run(context, {**base, "calc.py": code}, base, outside=False, counter_tests="off")
    assert (result.status, result.questions) == ("passed", []), result.feedback


async def test_an_exception_that_is_as_wide_at_the_base_is_asked_nothing(context) -> None:
    wide = ERRORS.replace("(ValueError)", "(ValueError, TypeError, LookupError)")
    base = helped(wide.replace("a + b", "a - b"))
    result = await run(context, {**base, "calc.py": wide}, base, outside=False, counter_tests="off")
    assert (result.status, result.questions) == ("passed", []), result.feedback


PLUGINS = """import importlib.util
import sys


def load(path):
    spec = importlib.util.spec_from_file_location(f"{__name__}.custom.extra", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def marked(function):
    return _Marked(function)


class _Marked:
    def __init__(self, function):
        self.function = function
"""
USES_PLUGINS = """from calc import load


def test_load(tmp_path):
    extra = tmp_path / "extra.py"
    extra.write_text("from calc import marked\\n\\n\\n@marked\\ndef go():\\n    return 3\\n")
    assert load(extra).go.function() == 3
"""


async def test_modules_that_the_code_loads_under_its_own_name_are_no_library(context) -> None:
    base = {"calc.py": "def load(path):\n    return None\n", "tests/test_calc.py": USES_PLUGINS}
    result = await run(context, {**base, "calc.py": PLUGINS}, base, outside=False, counter_tests=False)
    assert result.passed, result.feedback


# Each look for garbage finds some, and ends with one more module.
LATE_IMPORTS = """import gc
import json
import sys
import types

from calc import add

json.loads("{}")


class Late:
    left = 3000

    def __init__(self):
        self.me = self

    def __del__(self):
        if Late.left:
            Late.left -= 1
            sys.modules[f"late_{Late.left}"] = types.ModuleType("late")
            Late()


def test_add():
    assert add(1, 2) == 3
    Late()
    gc.set_threshold(1)
"""


async def test_finalizers_that_import_while_the_gate_looks_fail_no_test(context) -> None:
    files = {"calc.py": ADD, "tests/test_late.py": LATE_IMPORTS}
    changed = {**files, "calc.py": "def add(a, b):\n    return b + a\n"}
    result = await run(context, changed, files, outside=False, counter_tests="off")
    assert result.status == "passed", result.feedback


FIRST = "import json\n\nfrom calc import start\n\n\ndef test_start():\n    assert start(1) == 1\n"
SECOND = "from calc import start\n\n\ndef test_again():\n    assert start(2) == 2\n"
LOADS = "import json\n\n\ndef loads(text):\n    return 1\n\n\n"
AT_IMPORT = f"{LOADS}json.loads = loads\n\n\ndef start(a):\n    return a\n"
IN_A_TEST = f"{LOADS}def start(a):\n    if a == 1:\n        json.loads = loads\n    return a\n"


@pytest.mark.parametrize(
    ("code", "ran"),
    [
        pytest.param(AT_IMPORT, [], id="at import: no test runs"),
        pytest.param(IN_A_TEST, [{"tests/test_a.py"}], id="in a test: its file runs"),
    ],
)
async def test_the_base_runs_no_more_than_what_may_show_the_same_change(
    context, monkeypatch, code, ran
) -> None:
    asked: list[object] = []
    run_now = BaseTests.run_now

    async def noted(self, files=None, ids=None, **options):
        asked.append(files)
        return await run_now(self, files, ids, **options)

    monkeypatch.setattr(BaseTests, "run_now", noted)
    base = {"calc.py": code, "tests/test_a.py": FIRST, "tests/test_b.py": SECOND}
    new = {**base, "calc.py": f"{code}\n\nNEW = 1\n"}
    result = await run(context, new, base, outside=False, counter_tests="off")
    assert (result.status, result.questions) == ("passed", []), result.feedback
    assert asked == ran


async def test_what_tests_hand_to_raises_need_not_be_comparable(context) -> None:
    odd = (
        "import pytest\n\nfrom calc import CalcError, add\n\n\nclass Odd:\n    __hash__ = None\n\n"
        "    def __eq__(self, other):\n        raise ValueError('as arrays do')\n\n\nODD = Odd()\n\n\n"
        "def test_odd():\n    pytest.raises(CalcError, add, ODD, 1)\n"
    )
    base = {"calc.py": ERRORS, "tests/test_calc.py": odd}
    result = await run(context, {**base, "calc.py": f"{ERRORS}\n# Sums.\n"}, base, outside=False)
    assert result.status == "passed", result.feedback


DONE = {**BASE, "calc.py": ADD}
REWRITES = """import os
from pathlib import Path

from calc import add

HERE = Path(__file__).parent


def test_more():
    assert add(2, 2) == 4
    {}
"""


@pytest.mark.parametrize(
    ("statement", "is_asked"),
    [
        pytest.param("(HERE / 'test_calc.py').write_text('')", True, id="written"),
        pytest.param("(HERE / 'test_calc.py').unlink()", True, id="removed"),
        pytest.param("(HERE / 'test_calc.py').unlink(); os.mkfifo(HERE / 'test_calc.py')", True, id="a pipe"),
        pytest.param("(HERE / 'test_calc.py').touch()", False, id="touched"),
        pytest.param("(HERE / 'results.txt').write_text('4')", False, id="a result"),
        pytest.param("(HERE / 'made.py').write_text('x = 4')", False, id="a new file"),
    ],
)
async def test_new_tests_that_change_others_are_a_question(context, statement: str, is_asked: bool) -> None:
    result = await run(context, {**DONE, "tests/test_more.py": REWRITES.format(statement)}, BASE)
    texts = [each.text for each in result.questions]
    wanted = ["The new tests change `tests/test_calc.py` while they run: may that be?"]
    assert texts == (wanted if is_asked else []), result.feedback
    assert result.status == ("failed" if is_asked else "passed"), result.feedback
