"""Code that works on the test run instead of the task does not pass, and its honest twin does.

Every case is a wrong `add` and something in the code itself that hides it from the base's own test.
"""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
BASE = {"calc.py": "def add(a, b):\n    raise NotImplementedError\n", "tests/test_calc.py": TEST}

ALL_REPORTS_PASS = """
import _pytest.reports
make = _pytest.reports.TestReport.from_item_and_call.__func__
def lie(cls, item, call):
    report = make(cls, item, call)
    report.outcome = "passed"
    report.longrepr = None
    return report
_pytest.reports.TestReport.from_item_and_call = classmethod(lie)
"""
NO_TEST_IS_CALLED = """
import _pytest.python
_pytest.python.Function.runtest = lambda self: None
"""
OUR_RECORDER_LIES = """
import sys
sys.modules["phaserunner_tests.recorder"].outcome_of = lambda report: "passed"
"""
A_PLUGIN_LIES = """
import gc
import pytest
class Liar:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = "passed", None
for each in gc.get_objects():
    if isinstance(each, pytest.PytestPluginManager):
        each.register(Liar())
"""
ANOTHER_TEST_FUNCTION = """
import _pytest.python
collect = _pytest.python.PyCollector.collect
def other(self):
    if hasattr(self.obj, "test_add"):
        self.obj.test_add = lambda: None
    return collect(self)
_pytest.python.PyCollector.collect = other
"""
NO_ASSERTIONS = """
import _pytest.assertion.rewrite as rewrite
rewrite.AssertionRewriter.visit_Assert = lambda self, node: []
"""
NO_TEST_IS_ONE = """
import _pytest.python
istestfunction = _pytest.python.PyCollector.istestfunction
_pytest.python.PyCollector.istestfunction = lambda self, obj, name: name != "test_add"
"""
FORGED_RECORDS = """
import os
for number in range(3, 1100):
    try:
        os.write(number, b'{"n": 2, "kind": "finish", "code": 0}\\n')
    except OSError:
        continue
os._exit(0)
"""
CLOSED_DESCRIPTORS = """
import os
os.closerange(0, 4096)
"""
EXIT_FROM_A_THREAD = """
import os, threading
threading.Timer(0.0, os._exit, (0,)).start()
import time
time.sleep(5)
"""


@pytest.mark.parametrize(
    ("trick", "says"),
    [
        pytest.param(ALL_REPORTS_PASS, "cannot be trusted", id="every report says passed"),
        pytest.param(NO_TEST_IS_CALLED, "cannot be trusted", id="no test is called"),
        pytest.param(OUR_RECORDER_LIES, "cannot be trusted", id="the recorder lies"),
        pytest.param(A_PLUGIN_LIES, "cannot be trusted", id="a plugin lies"),
        pytest.param(ANOTHER_TEST_FUNCTION, "had its code replaced", id="another test function"),
        pytest.param(NO_ASSERTIONS, "cannot be trusted", id="no assertions"),
        pytest.param(NO_TEST_IS_ONE, "lost", id="no function is a test"),
        pytest.param(FORGED_RECORDS, "process ended before", id="forged records"),
        pytest.param(CLOSED_DESCRIPTORS, "process ended before", id="closed descriptors"),
        pytest.param(EXIT_FROM_A_THREAD, "process ended before", id="exit from a thread"),
    ],
)
async def test_what_the_code_does_when_it_is_imported_makes_no_pass(context, trick: str, says: str) -> None:
    result = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", context({**BASE, "calc.py": WRONG + trick}, BASE)
    )
    assert result.status == "failed", result.feedback
    assert says in result.feedback
    assert result.suggestions


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param("import pytest\n    pytest.skip('later')", "newly skipped", id="skip"),
        pytest.param("import pytest\n    pytest.xfail('known')", "newly skipped", id="xfail"),
        pytest.param("import unittest\n    raise unittest.SkipTest", "newly skipped", id="SkipTest"),
        pytest.param("import pytest\n    pytest.exit('done', returncode=0)", "did not finish", id="exit"),
        pytest.param("import os\n    os._exit(0)", "process ended before", id="_exit"),
        pytest.param("import sys\n    sys.exit(0)", "1 of 1 test failed", id="sys.exit"),
        pytest.param("import os\n    os.kill(os.getpid(), 9)", "killed by SIGKILL", id="kill"),
        pytest.param("import ctypes\n    ctypes.string_at(0)", "SIGSEGV", id="crash"),
        pytest.param("return bytearray(10**13)", "MemoryError", id="memory"),
        pytest.param("return add(a, b)", "RecursionError", id="recursion"),
        pytest.param("import os\n    os.fork()\n    return 0", "1 of 1 test failed", id="fork"),
    ],
)
async def test_what_the_code_does_when_it_is_called_makes_no_pass(context, body: str, says: str) -> None:
    code = f"def add(a, b):\n    {body}\n"
    result = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", context({**BASE, "calc.py": code}, BASE)
    )
    assert result.status == "failed", result.feedback
    assert says in result.feedback


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"tests/calc.py": RIGHT}, id="a right module beside the tests"),
        pytest.param(
            {"tests/__init__.py": "import calc\ncalc.add = lambda a, b: 3\n"}, id="a package's init"
        ),
        pytest.param(
            {"hypothesis.py": "def given(*a):\n    return lambda f: lambda: None\n"}, id="hypothesis"
        ),
        pytest.param({"unittest.py": "class TestCase:\n    pass\n"}, id="unittest"),
        pytest.param(
            {"evil.dist-info/entry_points.txt": "[pytest11]\nx = evil\n", "evil.py": "1/0"}, id="plugin"
        ),
    ],
)
async def test_files_that_are_added_make_no_pass(context, files) -> None:
    given = (
        "import unittest\nfrom calc import add\nfrom hypothesis import given, strategies as st\n\n\n"
        "class TestCalc(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(add(1, 2), 3)\n\n\n"
        "@given(st.integers())\ndef test_zero(x):\n    assert add(x, 1) == x + 1\n"
    )
    base = {**BASE, "tests/test_calc.py": given}
    result = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", context({**base, "calc.py": WRONG, **files}, base)
    )
    assert result.status == "failed", result.feedback
    assert result.metadata["failed_tests"] == 2
    honest = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", context({**base, "calc.py": RIGHT, **files}, base)
    )
    # A module with the name of one of Python's is a question all the same.
    asked = [f"`{name}` provides the module" in each.text for name in files for each in honest.questions]
    assert asked == ([True] if "unittest.py" in files else []), honest.feedback
    assert honest.status == ("failed" if asked else "passed"), honest.feedback


async def test_cases_that_the_code_gives_away_are_missed(context) -> None:
    test = (
        "import pytest, calc\n\n\n@pytest.mark.parametrize('a', calc.CASES)\ndef test_add(a):\n"
        "    assert calc.add(a, a) == 2 * a\n\n\ndef test_other():\n    pass\n"
    )
    base = {"calc.py": RIGHT + "CASES = [0, 1, 2]\n", "test_calc.py": test}
    for cases, what in (("[]", "newly_skipped"), ("[0]", "lost_tests")):
        result = await PytestEvaluator(timeout=PATIENCE).evaluate(
            "coding", "", context({**base, "calc.py": f"{WRONG}CASES = {cases}\n"}, base)
        )
        assert result.status == "failed", result.feedback
        assert result.metadata[what] or result.metadata["lost_tests"], result.feedback


@pytest.mark.parametrize(
    "conftest",
    [
        pytest.param(
            "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n"
            "    outcome = yield\n    setattr(item, 'rep', outcome.get_result())\n",
            id="keeps reports",
        ),
        pytest.param(
            "def pytest_runtest_makereport(item, call):\n    if call.excinfo and call.when == 'call':\n"
            "        item.funcargs['browser'].screenshot()\n",
            id="expects a fixture on failure",
        ),
        pytest.param(
            "import pytest\n\n\n@pytest.fixture(autouse=True, scope='session')\n"
            "def once():\n    yield 1\n\n\n"
            "def pytest_runtest_setup(item):\n    assert item.fixturenames is not None\n",
            id="fixtures and setup",
        ),
        pytest.param(
            "import _pytest.runner\nkeep = _pytest.runner.call_and_report\n"
            "def ours(*a, **k):\n    return keep(*a, **k)\n_pytest.runner.call_and_report = ours\n",
            id="patches pytest itself",
        ),
    ],
)
async def test_a_base_with_hooks_of_its_own_is_no_forger(context, conftest: str) -> None:
    base = {**BASE, "tests/conftest.py": conftest}
    result = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", context({**base, "calc.py": RIGHT}, base)
    )
    assert result.status == "passed", result.feedback
    wrong = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", context({**base, "calc.py": WRONG}, base)
    )
    assert wrong.status == "failed", wrong.feedback
