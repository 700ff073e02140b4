"""Flakes, own tests, tests that misbehave, and trees that are hardly projects."""

import os
import stat
from pathlib import Path

import pytest

from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.files.limits import WorkspaceLimits
from tests.unit.runners.evaluators.testing.gate_support import CODE, GOOD, TEST, judge

pytestmark = pytest.mark.anyio


async def test_own_tests_that_fail_are_named_beside_those_of_the_base(context) -> None:
    own = {"tests/test_more.py": "def test_more():\n    assert False, 'mine'\n"}
    result = await judge(context({**GOOD, **own}, GOOD))
    assert result.status == "failed"
    assert result.score == 0.5
    assert "The added or changed tests: 1 of 1 test failed" in result.feedback
    assert result.metadata["failing"] == ["tests/test_more.py::test_more"]
    assert (result.metadata["base_tests"], result.metadata["own_tests"]) == (1, 1)


@pytest.mark.parametrize(
    "own",
    [
        pytest.param(
            {"tests/test_calc.py": TEST["tests/test_calc.py"] + "\n\ndef test_b(): ...\n"},
            id="more in a file",
        ),
        pytest.param(
            {
                "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
                "tests/test_two.py": "def test_two(two):\n    assert two == 2\n",
            },
            id="a conftest for its own tests",
        ),
        pytest.param(
            {
                "tests/helpers.py": "X = 1\n",
                "tests/test_h.py": "from helpers import X\n\n\ndef test_h():\n    assert X\n",
            },
            id="a helper for its own tests",
        ),
        pytest.param({"tests/test_nothing.py": "X = 1\n"}, id="a file without tests"),
        pytest.param(
            {"tests/test_s.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_s(): ...\n"},
            id="a skipped test of its own",
        ),
    ],
)
async def test_honest_additions_pass(context, own) -> None:
    result = await judge(context({**GOOD, **own}, GOOD))
    assert result.status == "passed", result.feedback
    assert result.metadata["passed_tests"] >= 1
    assert result.metadata["self_written_only"] is False


async def test_tests_with_helpers_and_data_still_find_them(context) -> None:
    base = {
        **CODE,
        "tests/__init__.py": "",
        "tests/helpers.py": "from pathlib import Path\nX = Path(__file__).with_name('x.txt').read_text()\n",
        "tests/x.txt": "3",
        "tests/test_calc.py": "from calc import add\nfrom tests.helpers import X\n\n\ndef test_add():\n"
        "    assert add(1, 2) == int(X)\n",
    }
    result = await judge(context({**CODE, "tests/x.txt": "4", "tests/test_calc.py": ""}, base))
    assert result.status == "passed", result.feedback
    assert result.metadata["laid_over"] == [
        *("tests/__init__.py", "tests/helpers.py", "tests/test_calc.py", "tests/x.txt")
    ]


async def test_an_opened_test_is_the_candidates(context) -> None:
    changed = {
        **CODE,
        "tests/test_calc.py": "from calc import add\n\n\ndef test_sum():\n    assert add(1, 2)\n",
    }
    made = context(changed, {**TEST, "calc.py": "def add(a, b):\n    return 0\n"})
    made["open_paths"] = ["tests/test_calc.py"]
    result = await judge(made)
    assert result.status == "passed", result.feedback
    assert result.metadata["laid_over"] == []
    assert result.metadata["self_written_only"] is True


async def test_a_flake_fails_and_is_called_one(context) -> None:
    # Runs share nothing, so only chance tells them apart: until one fails and the one after it does not.
    flaky = "import os\n\n\ndef test_f():\n    assert os.urandom(1)[0] < 128, 'unlucky'\n"
    result = await judge(context({"test_f.py": flaky}))
    while not result.metadata.get("flaky"):
        result = await judge(context({"test_f.py": flaky}))
    assert result.status == "failed"
    assert result.metadata["flaky"] == ["test_f.py::test_f"]
    assert "flaky: it passed when run again" in result.feedback


async def test_a_test_that_fails_at_base_too_is_said_to(context) -> None:
    base = {**TEST, "calc.py": "def add(a, b):\n    return 0\n"}
    result = await judge(context({**TEST, "calc.py": "def add(a, b):\n    return 1\n"}, base))
    assert result.status == "failed"
    assert "fails at base, too" in result.feedback
    assert result.metadata["failing_at_base"] == ["tests/test_calc.py::test_add"]


async def test_processes_that_tests_start_find_the_code(context) -> None:
    test = (
        "import subprocess\nimport sys\n\n\ndef test_child():\n"
        "    subprocess.run([sys.executable, '-c', 'import calc, other'], check=True, cwd='/')\n"
    )
    files = {"src/calc.py": CODE["calc.py"], "other.py": "", "tests/test_child.py": test}
    result = await judge(context(files, files))
    assert result.status == "passed", result.feedback


@pytest.mark.parametrize(
    ("test", "status"),
    [
        pytest.param("print('x' * 200_000_000)", "passed", id="200 MB of output"),
        pytest.param(
            "import threading as t, time\n    t.Thread(target=time.sleep, args=(99,), daemon=True).start()",
            "passed",
            id="a daemon thread",
        ),
        pytest.param(
            "import subprocess\n    subprocess.Popen(['sleep', '99'])", "passed", id="a child that stays"
        ),
        pytest.param(
            "import os\n    for fd in range(3):\n        os.close(fd)", None, id="closes its streams"
        ),
        pytest.param(
            "import os\n    for _ in range(4):\n        os.fork()", "passed", id="forks and comes back"
        ),
        pytest.param("import os\n    os.mkdir('d')\n    os.chmod('d', 0)", "passed", id="locks a directory"),
        pytest.param(
            "from pathlib import Path\n    Path('calc.py').write_text('1/0')",
            "passed",
            id="overwrites the code",
        ),
    ],
)
async def test_tests_that_misbehave_get_a_verdict_and_leave_nothing(
    context, tmp_path, monkeypatch, test: str, status: str | None
) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "runs"))
    made = context({**GOOD, "test_m.py": f"def test_m():\n    {test}\n"}, GOOD)
    result = await judge(made)
    assert result.status in ((status,) if status else ("passed", "failed")), result.feedback
    assert os.listdir(tmp_path / "runs") == []
    assert (Path(made["workspace_ref"]) / "calc.py").read_text() == CODE["calc.py"]


async def test_trees_that_are_hardly_projects(context, tmp_path) -> None:
    assert "No tests were collected" in (await judge(context({}))).feedback
    assert (await judge(context({}, GOOD))).status == "failed"
    made = context({**GOOD, "x.bin": b"\x00\xff", "test_bin.py": b"\x00\xff"}, GOOD)
    root = Path(made["workspace_ref"])
    (root / "loop").symlink_to("loop")
    (root / "root").symlink_to("/")
    (root / "locked").mkdir()
    (root / "locked").chmod(0)
    (root / os.fsdecode(b"test_\xff.py")).write_text("def test_x():\n    assert False\n")
    result = await judge(made)
    (root / "locked").chmod(stat.S_IRWXU)
    assert result.status == "failed"
    assert "test_bin.py" in result.feedback


async def test_a_huge_tree_gets_no_verdict(context) -> None:
    result = await judge(context(GOOD, GOOD), limits=WorkspaceLimits(max_files=1))
    assert result.status == "errored"
    assert "at most 1 are allowed (WORKSPACE_MAX_FILES)" in result.feedback


async def test_no_sandbox_is_no_verdict(context) -> None:
    sandbox = Sandbox(program="/no/such/bwrap")
    result = await judge(context(GOOD, GOOD), sandbox=sandbox)
    assert result.status == "errored"
    assert result.metadata["reason"] == "sandbox_unavailable"
    assert "install bubblewrap" in result.feedback


async def test_running_unconfined_is_said(context) -> None:
    sandbox = Sandbox(SandboxSettings(mode=SandboxMode.OFF))
    result = await judge(context(GOOD, GOOD), sandbox=sandbox)
    assert result.status == "passed", result.feedback
    assert result.metadata["sandbox"] == "none"
    assert "unconfined" in result.feedback
    assert (await judge(context(GOOD, GOOD))).metadata["sandbox"] == "bubblewrap"


CRASHES = {
    **GOOD,
    "tests/test_crash.py": (
        "import os\n\n\ndef test_before():\n    pass\n\n\ndef test_crash():\n    os.abort()\n\n\n"
        "def test_after():\n    pass\n"
    ),
}


async def test_a_test_that_ends_the_process_at_the_base_too_is_one_question_with_its_file(context) -> None:
    result = await judge(context({**CRASHES, "more.py": "x = 1\n"}, CRASHES))
    assert result.status == "failed"
    assert [each.id for each in result.questions] == ["tests/test_crash.py::test_crash"], result.feedback
    assert "so 2 others of its file did not run: may it stay so?" in result.questions[0].text
    # The others are evidence, and a crash that the base does not have is a failure.
    wrong = {**CRASHES, "calc.py": "def add(a, b):\n    return 4\n"}
    result = await judge(context(wrong, CRASHES))
    assert (result.status, result.questions) == ("failed", [])
    crashing = {**GOOD, "calc.py": "import os\n\n\ndef add(a, b):\n    os.abort()\n"}
    result = await judge(context(crashing, GOOD))
    assert (result.status, result.questions) == ("failed", [])


_PARSER_FAILS = {
    "tests/test_parser.py": "import ast\n\n\ndef fails(*arguments, **named):\n"
    "    raise SystemError('AST constructor recursion depth mismatch (before=47, after=59)')\n\n\n"
    "def test_red():\n    ast.parse = fails\n    assert 1 == 2\n"
}


async def test_an_error_of_the_parser_ends_no_run(context) -> None:
    """Python 3.11 raises it while pytest shows the source of a failure."""
    base = {**GOOD, **_PARSER_FAILS}
    wrong = {**base, "calc.py": "def add(a, b):\n    return a - b\n"}
    result = await judge(context(wrong, base))
    assert result.feedback.startswith("2 of 2 tests failed"), result.feedback
