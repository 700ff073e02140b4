"""What runs before the tests: hooks, filters of warnings, plug-ins, and the interpreter itself."""

import sys
from pathlib import Path

import pytest

from app.schemas.questions import QUESTIONS, ProtectedPolicy
from tests.unit.runners.evaluators.testing.gate_support import CODE, GOOD, TEST, WRONG, judge

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("prepares", "code", "status"),
    [
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


ENDING = 'def pytest_configure(config):\n    raise SystemExit("Is the server running?")\n'


@pytest.mark.parametrize("protected", ProtectedPolicy)
async def test_a_hook_that_ends_the_base_s_run_too_is_a_question(context, protected: ProtectedPolicy) -> None:
    base = {**GOOD, "conftest.py": ENDING}
    made = context({**base, "calc.py": WRONG["calc.py"]}, base)
    result = await judge(made, outside=False, protected=protected)
    if protected is ProtectedPolicy.ASK:
        (question,) = result.metadata[QUESTIONS]
        assert question["text"].startswith("pytest cannot run the tests here, with or without the change")
        assert "Is the server running?" in question["why"]
    else:
        assert result.status == "errored"
        assert "pytest cannot run in the base either" in result.feedback


@pytest.mark.parametrize(
    ("says", "is_asked"),
    [
        pytest.param(
            "pytest.UsageError(\"pytest-qt needs Qt: No module named 'PyQt6'\")", True, id="a plug-in"
        ),
        pytest.param('ModuleNotFoundError("No module named \'soon\'", name="soon")', False, id="the tree"),
    ],
)
async def test_a_module_that_only_a_plugin_misses_is_none_to_write(
    context, says: str, is_asked: bool
) -> None:
    hook = f"import pytest\n\n\ndef pytest_configure(config):\n    raise {says}\n"
    base = {**GOOD, "conftest.py": hook}
    result = await judge(context({**base, "calc.py": WRONG["calc.py"]}, base), outside=False)
    assert (QUESTIONS in result.metadata) is is_asked, result.feedback
    assert result.status == "failed"


async def test_a_run_that_ends_in_other_words_than_at_the_base_is_no_question(context) -> None:
    hook = "import calc\n\n\ndef pytest_configure(config):\n    raise SystemExit(calc.add(1, 1))\n"
    base = {**GOOD, "conftest.py": hook}
    broken = {"calc.py": "def add(a, b):\n    raise KeyError(a)\n"}
    assert QUESTIONS not in (await judge(context({**base, **broken}, base), outside=False)).metadata


async def test_nothing_is_asked_if_the_goal_names_tests_that_cannot_run(context) -> None:
    base = {**GOOD, "conftest.py": ENDING}
    made = context({**base, "calc.py": WRONG["calc.py"]}, base)
    result = await judge({**made, "goal_tests": ("tests/test_calc.py",)}, outside=False)
    assert result.status == "errored", result.feedback


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


async def test_a_plugin_that_the_base_names_and_the_environment_lacks_is_no_failed_attempt(context) -> None:
    named = {"pytest.ini": "[pytest]\naddopts = -p nowhere_to_be_found\n"}
    base = {**GOOD, **named}
    result = await judge(context({**base, "calc.py": WRONG["calc.py"]}, base), outside=False)
    assert result.status == "errored", result.feedback
    assert "lacks what the project needs: nowhere_to_be_found" in result.feedback
    added = await judge(context({**GOOD, **named}, GOOD), outside=False)
    assert added.status != "errored", added.feedback


@pytest.mark.parametrize(
    ("module", "status"),
    [
        pytest.param("snapshottest", "errored", id="a library for tests that nothing declares"),
        pytest.param("calc_tools", "failed", id="a module that is perhaps to be written"),
    ],
)
async def test_a_conftest_that_imports_what_nobody_has(context, module: str, status: str) -> None:
    base = {**GOOD, "conftest.py": f"import {module}\n"}
    result = await judge(context({**base, "calc.py": WRONG["calc.py"]}, base), outside=False)
    assert result.status == status, result.feedback
    if status == "errored":
        assert f"lacks what the project needs: {module}" in result.feedback


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


_MORE = "from calc import add\n\n\ndef test_more(server):\n    assert add(1, 1) == 2\n"
_LATER = {
    **GOOD,
    "tests/conftest.py": STOPS.replace("(autouse=True)", ""),
    "tests/test_server.py": _MORE,
    "tests/test_then.py": _MORE.replace("server", ""),
}


async def test_tests_before_which_the_base_stops_are_a_question(context) -> None:
    same = context({**_LATER, "more.py": "x = 1\n"}, _LATER)
    # The reviewer knows one test. What comes after it is another matter.
    for known in ([], ["tests/test_server.py::test_more"]):
        result = await judge({**same, "known_failures": known})
        assert [(each.id, each.tests) for each in result.questions] == [
            ("tests/test_server.py::test_more", ())
        ], result.feedback
        assert "so another one did not run" in result.questions[0].text
    wrong = await judge(context({**_LATER, **WRONG}, _LATER))
    assert (wrong.status, list(wrong.questions)) == ("failed", [])
    assert wrong.metadata["failing"] == ["tests/test_calc.py::test_add"]


async def test_code_that_stops_the_run_earlier_than_the_base_fails(context) -> None:
    base = {**_LATER, "tests/test_a.py": "def test_a():\n    assert True\n"}
    code = {"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.exit('enough')\n"}
    result = await judge(context({**base, **code}, base))
    assert (result.status, list(result.questions)) == ("failed", [])


_EXITS = {**GOOD, "tests/test_device.py": "import sys\n\nsys.exit('no device here')\n"}


async def test_a_test_file_that_exits_at_the_base_too_costs_no_other_file(context) -> None:
    same = context({**_EXITS, "more.py": "x = 1\n"}, _EXITS)
    result = await judge({**same, "goal": "Add a module"})
    assert [each.id for each in result.questions] == ["tests/test_device.py"], result.feedback
    wrong = await judge(context({**_EXITS, **WRONG}, _EXITS))
    assert (wrong.status, list(wrong.questions)) == ("failed", [])
    # Code that exits when a test file imports it is at fault, whatever its status.
    code = {"calc.py": "import sys\n\nsys.exit(0)\n"}
    result = await judge(context({**GOOD, **code}, GOOD))
    assert (result.status, list(result.questions)) == ("failed", [])
    assert "SystemExit: 0" in result.feedback


async def test_a_conftest_in_another_directory_does_not_speak_against_changed_tests(context) -> None:
    """pytest loads it on its way, and only there is a package missing."""
    base = {
        **GOOD,
        "requirements.txt": "pytest\nlacked\n",
        "other/__init__.py": "",
        "other/conftest.py": "import lacked\n",
        "other/test_other.py": "def test_other():\n    assert lacked\n",
    }
    test = base["tests/test_calc.py"] + "\n\ndef test_more():\n    assert add(2, 2) == 4\n"
    result = await judge(context({**base, "tests/test_calc.py": test}, base))
    assert result.status == "passed", result.feedback
    assert "lacks what the project needs: lacked" in result.feedback


STRICT = "filterwarnings = error\naddopts = --strict-config\nxfail_strict = true\n"


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(f"[pytest]\ndoctest_stars = enabled\n{STRICT}", id="a flag and filters"),
        pytest.param("[pytest]\ndoctest_stars = enabled\nstrict = true\n", id="everything strict"),
    ],
)
async def test_a_setting_of_a_plugin_that_is_not_loaded_prevents_no_verdict(context, config: str) -> None:
    base = {**GOOD, "pytest.ini": config}
    passed = await judge(context({**base, "more.py": "X = 1\n"}, base))
    assert (passed.status, passed.metadata["outside"]["agrees"]) == ("passed", 1), passed.feedback
    failed = await judge(context({**base, "calc.py": WRONG["calc.py"]}, base), outside=False)
    assert failed.metadata["failing"] == ["tests/test_calc.py::test_add"]
