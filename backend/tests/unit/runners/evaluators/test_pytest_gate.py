"""The test gate passes when tests ran and hold, and is not to be talked out of it."""

import asyncio
import os
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator

pytestmark = pytest.mark.anyio

CODE = {"calc.py": "def add(a, b):\n    return a + b\n"}
TEST = {"tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"}
GOOD = {**CODE, **TEST}
WRONG = {**TEST, "calc.py": "def add(a, b):\n    return a - b\n"}


async def run(context, files, base=None, **options):
    return await PytestEvaluator(**options).evaluate("coding", "", context(files, base))


@pytest.mark.parametrize("base", [pytest.param(None, id="no base"), pytest.param(GOOD, id="base")])
async def test_good_work_passes(context, base) -> None:
    result = await run(context, {**GOOD, "tests/test_more.py": "def test_more():\n    pass\n"}, base)
    assert (result.status, result.score) == ("passed", 1.0)
    assert result.metadata["passed_tests"] == 2
    assert result.metadata["failed_tests"] == 0


async def test_failures_are_named_with_their_assertion(context) -> None:
    result = await run(context, {**WRONG, "tests/test_other.py": "def test_ok():\n    pass\n"}, GOOD)
    assert (result.status, result.score) == ("failed", 0.5)
    assert result.metadata["failed_tests"] == 1
    assert "tests/test_calc.py::test_add" in result.suggestions[0]
    assert "assert -1 == 3" in result.suggestions[0]
    assert "1 failed, 1 passed" in (result.criteria[0].evidence or "")
    assert len(result.feedback) < 4000


async def test_no_workspace() -> None:
    result = await PytestEvaluator().evaluate("coding", "", {})
    assert (result.feedback, result.status, result.score) == ("No workspace to test", "skipped", 1.0)


async def test_missing_workspace() -> None:
    result = await PytestEvaluator().evaluate("coding", "", {"workspace_ref": "/no/such/place"})
    assert result.status == "failed"
    assert "not found" in result.feedback


EXIT_AT_COLLECTION = (
    "import pytest\ndef pytest_collection_finish(session):\n    pytest.exit('x', returncode=0)\n"
)
HIDE_FAILURES = "def pytest_collection_modifyitems(items):\n    items.clear()\n"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param(
            {"conftest.py": "import os\nos._exit(0)\n"}, "process ended before", id="os._exit in conftest"
        ),
        pytest.param(
            {"calc.py": "import os\nos._exit(0)\n"}, "process ended before", id="os._exit at import"
        ),
        pytest.param({"conftest.py": "import sys\nsys.exit(0)\n"}, "process ended before", id="sys.exit"),
        pytest.param(
            {"conftest.py": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"},
            "process ended before",
            id="killed",
        ),
        pytest.param(
            {"conftest.py": EXIT_AT_COLLECTION}, "No tests were collected", id="pytest.exit at collection"
        ),
        pytest.param(
            {"tests/test_a.py": "import pytest\ndef test_a():\n    pytest.exit('x', returncode=0)\n"},
            "never came to an end",
            id="pytest.exit in a test",
        ),
        pytest.param({"conftest.py": HIDE_FAILURES}, "No tests were collected", id="tests taken out"),
        pytest.param(
            {"conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef no():\n    pytest.skip()\n"},
            "all are skipped",
            id="all skipped",
        ),
        pytest.param(
            {"conftest.py": "import no_such_module\n"}, "pytest could not work", id="broken conftest"
        ),
        pytest.param({"pytest.ini": "[pytest]\naddopts = --co\n"}, "1 of 1 test failed", id="collect only"),
        pytest.param(
            {"pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'none_*.py'\n"},
            "1 of 1 test failed",
            id="no file is a test file",
        ),
        pytest.param(
            {"sitecustomize.py": "import os\nos._exit(0)\n"}, "1 of 1 test failed", id="sitecustomize"
        ),
        pytest.param(
            {"pytest.py": "import os\nos._exit(0)\n", "json.py": "import os\nos._exit(0)\n"},
            "1 of 1 test failed",
            id="modules that shadow",
        ),
        pytest.param(
            {"conftest.py": "import atexit, os\natexit.register(os._exit, 0)\n"},
            "1 of 1 test failed",
            id="atexit",
        ),
        pytest.param({"tests/test_calc.py": "def f(:\n"}, "cannot be imported", id="syntax error"),
    ],
)
async def test_nothing_but_tests_that_hold_is_a_pass(context, files, says: str) -> None:
    result = await run(context, {**WRONG, **files}, GOOD)
    assert result.status == "failed"
    assert says in result.feedback
    assert result.suggestions


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"json.py": "x = 1\n", "pytest.py": "x = 1\n"}, id="modules of known names"),
        pytest.param({"conftest.py": "import atexit\natexit.register(print)\n"}, id="an exit handler"),
        pytest.param(
            {
                "tests/test_t.py": "import threading, time\n\ndef test_t():\n"
                "    threading.Thread(target=time.sleep, args=(30,)).start()\n"
            },
            id="a thread that outlives the run",
        ),
        pytest.param(
            {
                "tests/test_a.py": "import pytest\n\n@pytest.mark.anyio\n"
                "async def test_a(anyio_backend):\n    pass\n"
            },
            id="a plugin that the tests name",
        ),
        pytest.param(
            {
                "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = 'lib'\n",
                "lib/deep.py": "",
                "tests/test_d.py": "import deep\n\ndef test_d():\n    pass\n",
            },
            id="its own import path",
        ),
        pytest.param(
            {"src/pkg/__init__.py": "", "tests/test_s.py": "import pkg\n\ndef test_s():\n    pass\n"},
            id="src layout",
        ),
        pytest.param(
            {"tests/test_x.py": "import pytest\n\n@pytest.mark.xfail\ndef test_x():\n    assert False\n"},
            id="an expected failure",
        ),
        pytest.param(
            {
                "tests/test_p.py": "def test_p(tmp_path, capsys):\n    print('x')\n"
                "    assert capsys.readouterr().out\n"
            },
            id="fixtures",
        ),
        pytest.param(
            {
                "tests/test_s.py": "import sys, subprocess\n\ndef test_s():\n"
                "    subprocess.run([sys.executable, '-c', ''], check=True)\n"
            },
            id="a child process",
        ),
    ],
)
async def test_honest_work_passes(context, files) -> None:
    result = await run(context, {**GOOD, **files}, GOOD)
    assert result.status == "passed", result.feedback


@pytest.mark.parametrize(
    ("files", "lost"),
    [
        pytest.param(
            {**CODE, "tests/test_new.py": "def test_new():\n    pass\n"},
            ["tests/test_calc.py::test_add"],
            id="file",
        ),
        pytest.param(
            {**CODE, "tests/test_calc.py": "def test_new():\n    pass\n"},
            ["tests/test_calc.py::test_add"],
            id="function",
        ),
        pytest.param(
            {
                **GOOD,
                "conftest.py": "collect_ignore = ['tests/test_calc.py']\n",
                "tests/test_n.py": "def test_n():\n    pass\n",
            },
            ["tests/test_calc.py::test_add"],
            id="ignored",
        ),
        pytest.param(
            {
                **GOOD,
                "calc.py": "import pytest\npytest.skip('later', allow_module_level=True)\n",
                "tests/test_n.py": "def test_n():\n    pass\n",
            },
            ["tests/test_calc.py::test_add"],
            id="module skipped from the code",
        ),
    ],
)
async def test_a_lost_test_fails(context, files, lost: list[str]) -> None:
    result = await run(context, files, GOOD)
    assert result.status == "failed"
    assert result.metadata["lost_tests"] == lost
    assert "Restore the test tests/test_calc.py::test_add" in result.suggestions


async def test_a_new_skip_fails_and_an_old_one_does_not(context) -> None:
    def suite(mark: str) -> dict[str, str]:
        return {"test_a.py": f"import pytest\n\n{mark}\ndef test_a():\n    pass\n\ndef test_b():\n    pass\n"}

    skip, ran = suite("@pytest.mark.skip"), suite("@pytest.mark.filterwarnings")
    assert (await run(context, skip, skip)).status == "passed"
    result = await run(context, skip, ran)
    assert result.status == "failed"
    assert result.metadata["newly_skipped"] == ["test_a.py::test_a"]


async def test_comparison_can_be_switched_off(context) -> None:
    files = {**CODE, "tests/test_new.py": "def test_new():\n    pass\n"}
    result = await run(context, files, GOOD, compare_base=False)
    assert result.status == "passed"
    assert result.metadata["compared_with_base"] is False


async def test_no_tests_are_a_failure(context) -> None:
    result = await run(context, CODE)
    assert result.status == "failed"
    assert "No tests were collected" in result.feedback
    assert "Add tests" in result.suggestions[0]


async def test_another_language_is_skipped(context) -> None:
    assert (await run(context, {"package.json": "{}", "a.js": ""}, {"a.js": ""})).status == "skipped"
    assert (await run(context, {"package.json": "{}", "a.js": ""}, GOOD)).status == "failed"


async def test_tests_that_came_first_fail_until_the_code_is_there(context) -> None:
    result = await run(context, TEST, TEST)
    assert result.status == "failed"
    assert "No module named 'calc'" in result.feedback
    assert (await run(context, GOOD, TEST)).status == "passed"


async def test_tests_that_came_first_cannot_be_dropped(context) -> None:
    files = {**CODE, "tests/test_calc.py": "def test_easy():\n    pass\n"}
    result = await run(context, files, TEST)
    assert result.metadata["lost_tests"] == ["tests/test_calc.py::test_add"]


async def test_what_the_environment_lacks_is_not_the_candidates_fault(context) -> None:
    project = {
        "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['numpyx>=1']\n",
        "tests/test_n.py": "import numpyx\n\ndef test_n():\n    pass\n",
    }
    result = await run(context, project, project)
    assert result.status == "errored"
    assert "lacks what the project needs: numpyx" in result.feedback


async def test_a_base_that_is_broken_alike_leaves_no_verdict(context) -> None:
    files = {**GOOD, "conftest.py": "raise RuntimeError('no licence')\n"}
    assert (await run(context, files, files)).status == "errored"


BLOCKING = {"tests/test_calc.py": "import time\n\ndef test_add():\n    time.sleep(60)\n"}


async def test_out_of_time(context) -> None:
    result = await run(context, {**CODE, **BLOCKING}, timeout=2)
    assert result.status == "failed"
    assert "did not finish" in result.feedback
    assert "the test that was running: tests/test_calc.py::test_add" in result.suggestions[0]


async def test_a_base_that_is_out_of_time_too_leaves_no_verdict(context) -> None:
    assert (await run(context, {**CODE, **BLOCKING}, {**CODE, **BLOCKING}, timeout=2)).status == "errored"


async def test_an_interpreter_that_is_not_there(context) -> None:
    result = await run(context, GOOD, python=Path("/no/such/python"))
    assert result.status == "errored"
    assert "/no/such/python" in result.feedback


async def test_the_configuration_of_the_base_holds(context) -> None:
    base = {
        "pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'check_*.py'\npythonpath = 'lib'\n"
        "addopts = '--import-mode=importlib --no-such-option -q'\n",
        "lib/deep.py": "x = 1\n",
        "a/check_x.py": "import deep\n\ndef test_x():\n    assert deep.x == 2\n",
        "b/check_x.py": "def test_y():\n    pass\n",
    }
    result = await run(context, {**base, "lib/deep.py": "x = 2\n"}, base)
    assert result.status == "passed", result.feedback
    assert result.metadata["passed_tests"] == 2


async def test_secrets_and_the_workspace_stay_clean(context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    test = "import os\n\ndef test_env():\n    assert 'ANTHROPIC_API_KEY' not in os.environ\n"
    made = context({"test_env.py": test})
    assert (await PytestEvaluator().evaluate("coding", "", made)).status == "passed"
    assert os.listdir(made["workspace_ref"]) == ["test_env.py"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"conftest.py": "import os\nos._exit(0)\n"}, id="os._exit"),
        pytest.param({"conftest.py": EXIT_AT_COLLECTION}, id="pytest.exit"),
        pytest.param({"conftest.py": "import no_such_module\n"}, id="broken conftest"),
        pytest.param({"pytest.ini": "[pytest]\naddopts = --co\n"}, id="collect only"),
    ],
)
async def test_a_missing_base_is_no_excuse(context, files) -> None:
    assert (await run(context, {**WRONG, **files})).status == "failed"


async def test_cancelling_ends_the_tests(context, tree) -> None:
    notes = tree({"pid": ""}) / "pid"
    test = (
        "import os, time\nfrom pathlib import Path\n\n"
        f"def test_a():\n    Path({str(notes)!r}).write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    task = asyncio.create_task(run(context, {"test_a.py": test}))
    while not notes.read_text():  # noqa: ASYNC110 - the other side is another process
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(notes.read_text()), 0)
