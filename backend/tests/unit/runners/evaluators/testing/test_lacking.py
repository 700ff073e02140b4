"""What the machine or the environment lacks: whose fault that is, and what does not count."""

import pytest

from app.schemas.questions import BaseFailures
from tests.unit.runners.evaluators.testing.gate_support import CODE, GOOD, TEST, judge

pytestmark = pytest.mark.anyio


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


async def test_code_that_only_speaks_of_the_machine_is_at_fault(context) -> None:
    code = {"calc.py": "def add(a, b):\n    raise OSError('Network is unreachable')\n"}
    assert (await judge(context({**TEST, **code}, GOOD))).status == "failed"
