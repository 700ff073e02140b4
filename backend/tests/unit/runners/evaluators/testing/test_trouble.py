"""Flakes, a machine that lacks something, tests that misbehave, and trees that are hardly projects."""

import os
import stat
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.modes import SandboxMode
from app.schemas.questions import BaseFailures
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.files.limits import WorkspaceLimits

pytestmark = pytest.mark.anyio

CODE = {"calc.py": "def add(a, b):\n    return a + b\n"}
TEST = {"tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"}
GOOD = {**CODE, **TEST}


async def judge(made, **options):
    return await PytestEvaluator(**options).evaluate("coding", "", made)


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


WANTS_TIME = {"tests/test_calc.py": "import freezegun\n" + TEST["tests/test_calc.py"]}


@pytest.mark.parametrize(
    ("base", "candidate", "status"),
    [
        pytest.param({**CODE, **WANTS_TIME}, {**CODE, **WANTS_TIME}, "errored", id="known, not declared"),
        pytest.param(
            {**CODE, "tests/test_calc.py": "import notime\n", "requirements/tests.in": "NoTime>=1\n"},
            {**CODE},
            "errored",
            id="declared for tests",
        ),
        pytest.param(
            {**CODE, "tests/test_calc.py": "import notime\n", "tox.ini": "[testenv]\ndeps =\n  notime\n"},
            {**CODE},
            "errored",
            id="declared for tox",
        ),
        pytest.param(
            {
                **CODE,
                "tests/test_calc.py": "import notime\n",
                "setup.cfg": "[options.extras_require]\nt = notime\n",
            },
            {**CODE},
            "errored",
            id="declared as an extra",
        ),
        pytest.param(
            {**CODE, "tests/test_calc.py": "import notime\n"}, {**CODE}, "failed", id="to be written"
        ),
        pytest.param(
            GOOD, {"calc.py": f"import freezegun\n{CODE['calc.py']}"}, "failed", id="brought by the candidate"
        ),
        pytest.param(
            {**GOOD, "requirements.txt": "pytest\n"},
            {"calc.py": "raise ModuleNotFoundError(\"No module named 'pytest'\")\n"},
            "failed",
            id="there, whatever the code says",
        ),
        pytest.param(
            {"freezegun.py": "def freeze(): ...\n", **WANTS_TIME},
            {},
            "failed",
            id="the project's own, removed",
        ),
    ],
)
async def test_whose_fault_a_missing_module_is(context, base, candidate, status: str) -> None:
    result = await judge(context(candidate, base))
    assert result.status == status, result.feedback


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(
            "import socket\n    socket.create_connection(('192.0.2.1', 80), 2)", "no network", id="network"
        ),
        pytest.param(
            "import subprocess\n    subprocess.run(['no-such-program'])", "a program is missing", id="program"
        ),
        pytest.param(
            "import uuid\n    raise OSError(uuid.uuid4().hex + ': Connection refused')",
            "a service",
            id="port",
        ),
        pytest.param("import numpyx", "lacks numpyx", id="module"),
        pytest.param(
            "raise OSError('libfoo.so.1: cannot open shared object file')",
            "a system library is missing",
            id="library",
        ),
        pytest.param(
            "raise ImportError('Do `pip install shop[eth]` to use it.')",
            "an optional package is missing",
            id="extra",
        ),
    ],
)
async def test_what_the_machine_lacks_at_base_too_is_told(context, body: str, says: str) -> None:
    base = {
        **GOOD,
        "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['numpyx']\n",
        "tests/test_env.py": f"def test_env():\n    {body}\n",
    }
    result = await judge(context({**base, "more.py": ""}, base), outside=False)
    assert result.status == "passed", result.feedback
    assert says in result.feedback
    assert list(result.metadata["red_at_base"]) == ["tests/test_env.py::test_env"]
    strict = await judge(context({**base, "more.py": ""}, base), base_failures=BaseFailures.MUST_PASS)
    assert (strict.status, strict.metadata["reason"]) == ("errored", "environment")
    broken = await judge(context({**base, "calc.py": "def add(a, b):\n    return 0\n"}, base))
    assert broken.status == "failed"


async def test_tests_that_need_a_plugin_which_is_not_there_do_not_count(context) -> None:
    base = {**GOOD, "tests/test_web.py": "def test_web(httpbin):\n    assert httpbin\n"}
    result = await judge(context({**base, "more.py": ""}, base), outside=False)
    assert result.status == "passed", result.feedback
    assert "a pytest plugin that has a fixture is missing" in result.feedback


@pytest.mark.parametrize("fetched", [False, True])
async def test_a_git_submodule_that_is_not_fetched_is_no_fault_of_the_candidate(context, fetched) -> None:
    base = {
        **GOOD,
        ".gitmodules": '[submodule "rows"]\n\tpath = tests/rows\n\turl = https://example.invalid/rows\n',
        "tests/conftest.py": (
            "from pathlib import Path\n\n\ndef pytest_generate_tests(metafunc):\n"
            "    Path('tests/rows/all.txt').read_text()\n"
        ),
        **({"tests/rows/README": "no rows\n"} if fetched else {}),
    }
    result = await judge(context({**base, "more.py": ""}, base), outside=False)
    says = "the git submodule tests/rows is not fetched"
    assert (result.status == "errored" and says in result.feedback) is not fetched, result.feedback


@pytest.mark.parametrize("reads", ["rows/all.txt", "columns/all.txt"])
async def test_a_test_that_reads_a_submodule_which_is_not_fetched_does_not_count(context, reads: str) -> None:
    base = {
        **GOOD,
        ".gitmodules": '[submodule "rows"]\n\tpath = tests/rows\n\turl = https://example.invalid/rows\n',
        "tests/test_rows.py": f"def test_rows():\n    assert open('tests/{reads}').read()\n",
    }
    result = await judge(context({**base, "more.py": ""}, base), outside=False)
    is_submodule = reads.startswith("rows/")
    assert (result.status == "passed") is is_submodule, result.feedback
    assert ("the git submodule tests/rows is not fetched" in result.feedback) is is_submodule


NEEDS_DJANGO = "import hypothesis.extra.django\n"


@pytest.mark.parametrize("place", ["tests/conftest.py", "tests/test_more.py", "calc.py"])
async def test_what_an_installed_package_lacks_is_no_fault_of_the_candidate(context, place: str) -> None:
    files = {**GOOD, place: NEEDS_DJANGO + GOOD.get(place, "")}
    result = await judge(context({**files, "more.py": ""}, files), outside=False)
    assert "lacks what the project needs: django" in result.feedback, result.feedback
    assert result.status == ("passed" if place == "tests/test_more.py" else "errored")
    wrong = {**GOOD, "calc.py": NEEDS_DJANGO + GOOD["calc.py"]}
    assert (await judge(context(wrong, GOOD), outside=False)).status == "failed"


@pytest.mark.parametrize(
    ("prepares", "code", "status"),
    [
        pytest.param("raise SystemExit(1)", CODE["calc.py"], "errored", id="which ends it, at the base, too"),
        pytest.param("assert add(1, 2) == 3", CODE["calc.py"], "passed", id="which works"),
        pytest.param(
            "assert add(1, 2) == 3",
            "def add(a, b):\n    return a - b\n",
            "failed",
            id="which the code breaks",
        ),
    ],
)
async def test_a_hook_that_prepares_a_run(context, prepares: str, code: str, status: str) -> None:
    hook = (
        "from calc import add\n\n\ndef pytest_configure(config):\n"
        f"    if not config.getoption('--collect-only'):\n        {prepares}\n"
    )
    base = {**GOOD, "conftest.py": hook}
    result = await judge(context({**base, "calc.py": code}, base), outside=False, counter_tests="off")
    assert result.status == status, result.feedback
    if status == "errored":
        assert "pytest cannot run in the base either" in result.feedback


async def test_a_hook_that_breaks_on_a_red_test_of_the_base_excuses_no_broken_start(context) -> None:
    hooks = (
        "from calc import add\n\n\ndef pytest_configure(config):\n"
        "    if not config.getoption('--collect-only'):\n        assert add(1, 2) == 3\n\n\n"
        "def pytest_runtest_makereport(call):\n    if call.excinfo:\n        raise RuntimeError('red')\n"
    )
    red = {"tests/test_red.py": "def test_red():\n    assert False\n"}
    base = {**GOOD, **red, "conftest.py": hooks}
    wrong = {"calc.py": "def add(a, b):\n    return a - b\n"}
    result = await judge(context({**base, **wrong}, base), outside=False, counter_tests="off")
    assert result.status == "failed", result.feedback


@pytest.mark.parametrize(
    ("code", "status"),
    [
        pytest.param("return a + b", "passed", id="nothing new"),
        pytest.param("warnings.warn('x', Odd)\n    return a + b", "failed", id="a warning that is an error"),
    ],
)
async def test_filters_of_warnings_may_name_a_class_of_the_project(context, code: str, status: str) -> None:
    lines = "filterwarnings =\n    error\n    ignore:old:calc.Old\n    error::calc.Odd\n"
    kinds = (
        "import warnings\n\n\nclass Old(Warning): ...\n\n\nclass Odd(Warning): ...\n\n\ndef add(a, b):\n    "
    )
    base = {
        **TEST,
        "pytest.ini": f"[pytest]\n{lines}",
        "calc.py": f"{kinds}warnings.warn('old', Old)\n    return a + b\n",
    }
    result = await judge(
        context({**base, "calc.py": f"{kinds}warnings.warn('old', Old)\n    {code}\n"}, base),
        outside=False,
        counter_tests="off",
    )
    assert result.status == status, result.feedback


async def test_code_that_only_speaks_of_the_machine_is_at_fault(context) -> None:
    code = {"calc.py": "def add(a, b):\n    raise OSError('Network is unreachable')\n"}
    assert (await judge(context({**TEST, **code}, GOOD))).status == "failed"


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


async def test_a_plugin_that_lies_in_the_tree_is_loaded_from_there(context) -> None:
    plugin = "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n"
    base = {
        **CODE,
        "pytest.ini": "[pytest]\naddopts = -p tests.plugin\n",
        "tests/plugin.py": plugin,
        "tests/test_calc.py": "import calc\n\n\ndef test_add(three):\n    assert calc.add(1, 2) == three\n",
    }
    forged = {
        **base,
        "tests/plugin.py": plugin.replace("3", "4"),
        "calc.py": "def add(a, b):\n    return 4\n",
    }
    assert (await judge(context(base, base))).status == "passed"
    assert (await judge(context(forged, base))).status == "failed"


async def test_a_plugin_that_a_project_blocks_has_offered_its_fixtures_as_outside_the_gate(context) -> None:
    base = {
        **GOOD,
        "pytest.ini": "[pytest]\naddopts = -p pytester -p no:legacypath\n",
        "tests/test_inner.py": "def test_inner(testdir):\n    assert testdir\n",
    }
    result = await judge(context({**base, "more.py": "x = 1\n"}, base))
    assert result.status == "passed", result.feedback
    assert "red_at_base" not in result.metadata


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


async def test_an_interpreter_without_pytest_and_one_with_an_old_one(context, tmp_path) -> None:
    bare = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin/python").symlink_to(bare)
    isolated = f"home = {bare.parent}\ninclude-system-site-packages = false\n"
    (environment / "pyvenv.cfg").write_text(isolated)
    result = await judge(context(GOOD), python=environment / "bin/python")
    assert result.status == "errored"
    assert "No module named 'pytest'" in result.feedback
    packages = environment / f"lib/python3.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True)
    (packages / "pytest.py").write_text("__version__ = '7.1.2'\n")
    result = await judge(context(GOOD), python=environment / "bin/python")
    assert result.status == "errored"
    assert "has pytest 7.1.2; version 7.4 or newer is needed" in result.feedback


STOPS = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef server():\n    pytest.exit('no server here')\n"


async def test_a_base_whose_own_run_is_stopped_gives_no_verdict(context) -> None:
    stopped = {**GOOD, "tests/conftest.py": STOPS}
    result = await judge(context({**stopped, "more.py": "x = 1\n"}, stopped))
    assert result.status == "errored"
    assert "The base's tests also stop early" in result.feedback
    assert "no server here" in result.feedback
    # Code that stops the run is at fault.
    code = {"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.exit('enough')\n"}
    result = await judge(context({**GOOD, **code}, GOOD))
    assert result.status == "failed"


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
