"""The test gate passes when tests ran and hold, and is not to be talked out of it."""

import asyncio
import marshal
import os
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from tests.patience import PATIENCE
from tests.unit.runners.evaluators.testing.gate_support import CODE, GOOD, TEST, WRONG, run

pytestmark = pytest.mark.anyio


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
    assert "1 failed" in (result.criteria[0].evidence or "")
    assert result.metadata["total_tests"] == 2
    assert len(result.feedback) < 4000


@pytest.mark.parametrize(
    "asserts",
    [
        pytest.param("self.assertEqual(add(1, 2), 3)", id="unittest"),
        pytest.param("Mock(return_value=add(1, 2)).assert_called_once()", id="mock"),
    ],
)
async def test_a_failure_raised_in_a_library_is_named_with_the_line_of_the_test(
    context, asserts: str
) -> None:
    lines = [
        "from unittest import TestCase",
        "from unittest.mock import Mock",
        "from calc import add",
        "class TestAdd(TestCase):",
        "    def test_add(self):",
        f"        {asserts}",
    ]
    result = await run(context, {"calc.py": WRONG["calc.py"], "tests/test_calc.py": "\n".join(lines)})
    assert result.suggestions[0].startswith(
        "Fix tests/test_calc.py::TestAdd::test_add: tests/test_calc.py:6: AssertionError: "
    )


async def test_no_workspace() -> None:
    result = await PytestEvaluator(timeout=PATIENCE).evaluate("coding", "", {})
    assert (result.feedback, result.status, result.score) == ("No workspace to test", "skipped", 1.0)


async def test_missing_workspace() -> None:
    result = await PytestEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", {"workspace_ref": "/no/such/place"}
    )
    assert result.status == "failed"
    assert "not found" in result.feedback


EXIT_AT_COLLECTION = (
    "import pytest\ndef pytest_collection_finish(session):\n    pytest.exit('x', returncode=0)\n"
)
HIDE_FAILURES = "def pytest_collection_modifyitems(items):\n    items.clear()\n"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param({"conftest.py": "import os\nos._exit(0)\n"}, "1 of 1 test failed", id="conftest"),
        pytest.param(
            {"calc.py": "import os\nos._exit(0)\n"}, "process ended before", id="os._exit at import"
        ),
        pytest.param(
            {"tests/test_a.py": "import pytest\ndef test_a():\n    pytest.exit('x', returncode=0)\n"},
            "did not finish",
            id="pytest.exit in a test",
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


SKIP_ALL = "import pytest\n@pytest.fixture(autouse=True)\ndef no():\n    pytest.skip()\n"


@pytest.mark.parametrize(
    ("conftest", "says"),
    [
        pytest.param("import os\nos._exit(0)\n", "process ended before", id="os._exit"),
        pytest.param("import sys\nsys.exit(0)\n", "process ended before", id="sys.exit"),
        pytest.param(
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "killed by SIGKILL", id="killed"
        ),
        pytest.param(EXIT_AT_COLLECTION, "No tests were collected", id="pytest.exit"),
        pytest.param(HIDE_FAILURES, "No tests were collected", id="tests taken out"),
        pytest.param(SKIP_ALL, "all are skipped", id="all skipped"),
        pytest.param("import no_such_module\n", "pytest could not run", id="broken"),
    ],
)
async def test_a_conftest_cannot_end_self_written_tests_well(context, conftest: str, says: str) -> None:
    result = await run(context, {**WRONG, "conftest.py": conftest}, CODE)
    assert result.status == "failed"
    assert says in result.feedback
    assert "only the agent's own tests" in result.feedback
    assert result.metadata["self_written_only"] is True


@pytest.mark.parametrize(
    "files",
    [
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


async def test_a_module_with_a_name_of_the_standard_library_is_one_question(context) -> None:
    result = await run(context, {**GOOD, "json.py": "x = 1\n"}, GOOD)
    (question,) = result.metadata["questions"]
    assert "`json.py` provides the module `json`, as `Python` does" in question["text"]
    assert result.feedback.startswith("A person is asked"), result.feedback


USES_A_PACKAGE = {
    "calc.py": "def host(url):\n    return url.host\n",
    "tests/test_calc.py": (
        "from httpx import URL\nfrom calc import host\n\n"
        "def test_host():\n    assert host(URL('http://a/b')) == 'a'\n"
    ),
}


@pytest.mark.parametrize("place", ["", "src/"])
@pytest.mark.parametrize("more", [{}, {"tests/__init__.py": ""}, {"conftest.py": ""}])
async def test_no_file_takes_the_place_of_an_installed_package(context, place, more) -> None:
    fake = {
        "calc.py": "def host(url):\n    return url\n",
        f"{place}httpx.py": "class URL(str):\n    def __eq__(self, other):\n        return True\n",
    }
    result = await run(context, {**USES_A_PACKAGE, **more, **fake}, {**USES_A_PACKAGE, **more})
    assert result.status == "failed"
    assert "1 of 1 test failed" in result.feedback


WITH_A_PLUGIN = {
    "src/calc.py": "async def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": (
        "import pytest\n\nfrom calc import add\n\n@pytest.mark.anyio\n"
        "async def test_add(anyio_backend):\n    assert await add(1, 2) == 3\n"
    ),
}


@pytest.mark.parametrize("place", ["", "src/"])
async def test_no_file_takes_the_place_of_a_plug_in(context, place) -> None:
    fake = {
        "src/calc.py": "async def add(a, b):\n    return 0\n",
        f"{place}anyio/__init__.py": "",
        f"{place}anyio/pytest_plugin.py": (
            "import pytest\n\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n\n"
            "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
        ),
    }
    result = await run(context, {**WITH_A_PLUGIN, **fake}, WITH_A_PLUGIN)
    assert result.status == "failed"
    assert "1 of 1 test failed" in result.feedback


async def test_a_link_to_the_tests_is_no_other_code(context) -> None:
    made = context({**GOOD, "docs/README.md": "# Examples\n"}, GOOD)
    Path(made["workspace_ref"], "docs", "examples").symlink_to("../tests")  # noqa: ASYNC240
    result = await PytestEvaluator(timeout=PATIENCE).evaluate("coding", "", made)
    assert result.status == "passed", result.feedback


async def test_what_was_compiled_in_the_place_of_a_source_is_not_imported(context) -> None:
    made = context({**TEST, "README.md": ""}, GOOD)
    program = compile("def add(a, b):\n    return a + b\n", "calc.py", "exec")
    unchecked = MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(program)
    Path(made["workspace_ref"], "calc.pyc").write_bytes(unchecked)  # noqa: ASYNC240
    result = await PytestEvaluator(timeout=PATIENCE).evaluate("coding", "", made)
    assert result.status == "failed"
    assert "No module named 'calc'" in result.feedback


@pytest.mark.parametrize(
    ("files", "laid_over"),
    [
        pytest.param(
            {"tests/test_new.py": "def test_new():\n    pass\n"}, "tests/test_calc.py", id="file gone"
        ),
        pytest.param(
            {"tests/test_calc.py": "def test_new():\n    pass\n"}, "tests/test_calc.py", id="function gone"
        ),
        pytest.param(
            {"tests/test_calc.py": "import pytest\n\n@pytest.mark.skip\ndef test_add():\n    pass\n"},
            "tests/test_calc.py",
            id="skipped",
        ),
        pytest.param(
            {**TEST, "conftest.py": "import calc\ncalc.add = lambda a, b: a + b\n"},
            None,
            id="mended by conftest",
        ),
    ],
)
async def test_the_tests_of_the_base_run_whatever_became_of_them(context, files, laid_over) -> None:
    result = await run(context, {**CODE, **files}, GOOD)
    assert result.status == "passed", result.feedback
    assert result.metadata["laid_over"] == ([laid_over] if laid_over else [])
    assert (laid_over or "") in result.feedback
    result = await run(context, {"calc.py": WRONG["calc.py"], **files}, GOOD)
    assert result.status == "failed"
    assert "tests/test_calc.py::test_add" in result.metadata["failing"]


async def test_a_new_list_of_files_to_ignore_ends_no_test_of_the_base_and_is_a_question(context) -> None:
    files = {**TEST, "conftest.py": "collect_ignore = ['tests/test_calc.py']\n"}
    result = await run(context, {**CODE, **files}, GOOD)
    assert [each.id for each in result.questions] == ["conftest.py::collect_ignore"], result.feedback
    result = await run(context, {"calc.py": WRONG["calc.py"], **files}, GOOD)
    assert (result.status, result.questions) == ("failed", [])
    assert "tests/test_calc.py::test_add" in result.metadata["failing"]


async def test_code_that_skips_the_module_of_a_test_loses_it(context) -> None:
    code = "import pytest\npytest.skip('later', allow_module_level=True)\n"
    result = await run(context, {**GOOD, "calc.py": code}, GOOD)
    assert result.status == "failed"
    assert result.metadata["lost_tests"] == ["tests/test_calc.py::test_add"]
    assert "Restore the test tests/test_calc.py::test_add" in result.suggestions


async def test_a_new_skip_fails_and_an_old_one_does_not(context) -> None:
    test = (
        "import pytest, code_\n\n@pytest.mark.skip\ndef test_old():\n    pass\n\n"
        "@pytest.mark.skipif(code_.slow(), reason='slow')\ndef test_new():\n    pass\n\n"
        "def test_other():\n    pass\n"
    )
    quick, slow = (
        {"test_a.py": test, "code_.py": f"def slow():\n    return {each}\n"} for each in (False, True)
    )
    assert (await run(context, quick, quick)).status == "passed"
    assert (await run(context, slow, slow)).status == "passed"
    result = await run(context, slow, quick)
    assert result.status == "failed"
    assert result.metadata["newly_skipped"] == ["test_a.py::test_new"]


async def test_tests_that_marks_skip_at_the_base_need_no_run_there(context) -> None:
    """The list of the base's tests names them, even if only one of several is skipped for good."""
    rows = (
        "import pytest, code_\n\n"
        "@pytest.mark.parametrize('n', [*range(code_.COUNT)])\ndef test_row(n):\n    pass\n\n"
    )
    marked = "@pytest.mark.skipif(code_.COUNT < 9, reason='few')\ndef test_many():\n    raise SystemExit\n\n"
    asked = "@pytest.mark.skipif(code_.slow(), reason='slow')\ndef test_new():\n    pass\n"
    quick, slow = (
        {"test_a.py": rows + marked + asked, "code_.py": f"COUNT = 2\n\ndef slow():\n    return {each}\n"}
        for each in (False, True)
    )
    assert (await run(context, slow, slow)).status == "passed"
    result = await run(context, slow, quick)
    assert result.status == "failed"
    assert result.metadata["newly_skipped"] == ["test_a.py::test_new"]


ROW_FOR_EACH_FILE = {
    **CODE,
    "rows/one.txt": "1\n",
    "tests/test_rows.py": (
        "import pathlib, pytest\nfrom calc import add\n"
        "ROWS = sorted(pathlib.Path(__file__).parents[1].glob('rows/*.txt'))\n\n"
        "@pytest.mark.parametrize('path', ROWS, ids=lambda each: each.name)\ndef test_row(path):\n"
        "    if path.read_text() == 'later\\n':\n        pytest.skip('needs a newer Python')\n"
        "    assert add(0, int(path.read_text())) == 1\n"
    ),
}


async def test_a_further_row_may_be_skipped_where_the_others_run(context) -> None:
    more = {"rows/two.txt": "later\n"}
    base = {**ROW_FOR_EACH_FILE, "rows/three.txt": "1\n"}
    result = await run(context, {**base, **more}, base)
    assert result.metadata["newly_skipped"] == [], result.feedback
    renamed = {**ROW_FOR_EACH_FILE, **more}
    result = await run(context, renamed, base)
    assert result.metadata["newly_skipped"] == ["tests/test_rows.py::test_row[two.txt]"], result.feedback


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
    files = {"calc.py": WRONG["calc.py"], "tests/test_calc.py": "def test_easy():\n    pass\n"}
    result = await run(context, files, TEST)
    assert result.metadata["failing"] == ["tests/test_calc.py::test_add"]


async def test_what_the_environment_lacks_is_not_the_candidates_fault(context) -> None:
    project = {
        "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['numpyx>=1']\n",
        "tests/test_n.py": "import numpyx\n\ndef test_n():\n    pass\n",
    }
    result = await run(context, project, project)
    assert result.status == "errored"
    assert "lacks what the project needs: numpyx" in result.feedback


async def test_a_base_that_is_broken_alike_is_a_question(context) -> None:
    files = {**GOOD, "conftest.py": "raise RuntimeError('no licence')\n"}
    (question,) = (await run(context, files, files)).questions
    assert question.text.startswith("pytest cannot run the tests here")
    assert "no licence" in question.why


BLOCKING = {"tests/test_calc.py": "import time\n\ndef test_add():\n    time.sleep(60)\n"}


async def test_out_of_time(context) -> None:
    result = await run(context, {**CODE, **BLOCKING}, timeout=6)
    assert result.status == "failed"
    assert "1 of 1 test failed" in result.feedback
    assert result.suggestions[0].startswith("Fix tests/test_calc.py::test_add")
    assert result.suggestions[0].endswith("it did not end")


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
    assert (await PytestEvaluator(timeout=PATIENCE).evaluate("coding", "", made)).status == "passed"
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


async def test_cancelling_ends_the_tests(context, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "runs"))
    (tmp_path / "runs").mkdir()
    files = {
        "test_a.py": "import time\n\ndef test_a():\n    open('started', 'w').close()\n    time.sleep(60)\n"
    }
    task = asyncio.create_task(run(context, files))
    while not list((tmp_path / "runs").rglob("started")):  # noqa: ASYNC110 - the other side is another process
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert os.listdir(tmp_path / "runs") == []
    assert _processes_in(tmp_path) == []


def _processes_in(directory: Path) -> list[str]:
    """Give the processes that were started with a path in the directory."""
    lines: list[str] = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return [line for line in lines if str(directory) in line]
