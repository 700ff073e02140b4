"""Tests of a compiled part in a place where it is not built, beside those of code that is to be written."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import BaseFailures

pytestmark = pytest.mark.anyio

TESTS = {
    "tests/test_calc.py": "from importlib import import_module\n\nimport pytest\n\n\n"
    "@pytest.mark.parametrize('part', ['_slow', '_fast'])\ndef test_add(part):\n"
    "    assert import_module(f'calc.{part}').add(1, 2) == 3\n"
}
CODE = {
    "calc/__init__.py": "try:\n    from calc._fast import add\n"
    "except ImportError:\n    from calc._slow import add\n",
    "calc/_slow.py": "def add(a, b):\n    return a + b\n",
}
COMPILED = {"calc/_fast.c": "int add(int a, int b) { return a + b; }\n"}
WRONG = {"calc/_slow.py": "def add(a, b):\n    return a - b\n"}


async def judge(context, files, base):
    made = {**context(files, base), "goal": "Speed up adding"}
    return await PytestEvaluator().evaluate("coding", "", made)


async def test_a_part_that_only_a_build_makes_is_no_fault_of_the_candidate(context) -> None:
    base = {**CODE, **COMPILED, **TESTS}
    result = await judge(context, base, base)
    assert (result.status, len(result.questions)) == ("passed", 0)
    assert "calc._fast is not built" in result.feedback
    wrong = await judge(context, {**base, **WRONG}, base)
    assert wrong.status == "failed"


PART_OF_ITS_OWN = {
    "calc/__init__.py": "def add(a, b):\n    return a + b\n",
    "calc/fast.c": "int add(int a, int b) { return a + b; }\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "tests/test_fast.py": "from calc.fast import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}


async def test_a_compiled_part_that_only_tests_import(context) -> None:
    result = await judge(context, PART_OF_ITS_OWN, PART_OF_ITS_OWN)
    assert result.status == "passed"
    assert "tests/test_fast.py (The interpreter that runs the tests lacks" in result.feedback
    unwritten = {name: text for name, text in PART_OF_ITS_OWN.items() if name != "calc/fast.c"}
    assert (await judge(context, PART_OF_ITS_OWN, unwritten)).status == "failed"


async def test_a_compiled_part_that_is_imported_by_its_name(context) -> None:
    by_name = "from calc import fast\n\n\ndef test_add():\n    assert fast.add(1, 2) == 3\n"
    files = {**PART_OF_ITS_OWN, "tests/test_fast.py": by_name}
    result = await judge(context, files, files)
    assert result.status == "passed", result.feedback
    assert "lacks what the project needs: calc.fast" in result.feedback
    alone = {name: text for name, text in files.items() if name != "tests/test_calc.py"}
    assert (await judge(context, alone, alone)).status == "errored"
    unwritten = {name: text for name, text in files.items() if name != "calc/fast.c"}
    assert (await judge(context, files, unwritten)).status == "failed"


MOSTLY_COMPILED = {
    **PART_OF_ITS_OWN,
    "tests/test_more.py": "import calc.fast\n\n\ndef test_more():\n    assert calc.fast.add(2, 2) == 4\n",
}


async def test_most_files_without_the_compiled_part_are_a_question(context) -> None:
    changed = {**MOSTLY_COMPILED, "calc/__init__.py": MOSTLY_COMPILED["calc/__init__.py"] + "\nMORE = 1\n"}
    result = await judge(context, changed, MOSTLY_COMPILED)
    assert [each.id for each in result.questions] == ["tests"], result.feedback
    assert "Only 1 of 3 test files can be loaded" in result.questions[0].text
    assert "calc.fast" in result.questions[0].why
    assert result.questions[0].tests == ("tests/test_fast.py", "tests/test_more.py")
    wrong = {**MOSTLY_COMPILED, "calc/__init__.py": "def add(a, b):\n    return a - b\n"}
    assert not (await judge(context, wrong, MOSTLY_COMPILED)).questions


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"known_failures": ["tests/test_more.py"]}, id="a person knows of one"),
        pytest.param({"base_failures": BaseFailures.IGNORE}, id="what is red does not matter"),
        pytest.param({"goal_tests": ["tests/test_calc.py"]}, id="others are the goal"),
    ],
)
async def test_most_files_without_the_compiled_part_are_only_noted(context, given) -> None:
    made = {**context(MOSTLY_COMPILED, MOSTLY_COMPILED), "goal": "Speed up adding", **given}
    result = await PytestEvaluator().evaluate("coding", "", made)
    assert (result.status, result.questions) == ("passed", []), result.feedback


async def test_a_part_that_nothing_is_compiled_to_is_to_be_written(context) -> None:
    base = {**CODE, **TESTS}
    assert (await judge(context, base, base)).status == "failed"


async def test_a_candidate_that_brings_the_source_of_a_part_has_not_written_it(context) -> None:
    base = {**CODE, **TESTS}
    assert (await judge(context, {**base, **COMPILED}, base)).status == "failed"


SHARED = {
    "setup.py": "from setuptools import setup\n\nsetup(name='calc', extras_require={'test': ['calc.kit']})\n",
    "calc/__init__.py": "",
    "calc/core.py": "def add(a, b):\n    return a + b\n",
    "tests/test_core.py": "from calc.core import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_kit():\n    import calc.kit\n\n    assert calc.kit\n",
}


async def test_a_declared_package_in_the_projects_namespace_is_not_to_be_written(context) -> None:
    assert (await judge(context, SHARED, SHARED)).status == "passed"
    wrong = {**SHARED, "calc/core.py": "def add(a, b):\n    return a - b\n"}
    assert (await judge(context, wrong, SHARED)).status == "failed"
    undeclared = {**SHARED, "setup.py": "from setuptools import setup\n\nsetup(name='calc')\n"}
    assert (await judge(context, undeclared, undeclared)).status == "failed"


MANY_ROWS = {
    "tests/test_calc.py": "from importlib import import_module\n\nimport pytest\n\n\n"
    "def test_add():\n    assert import_module('calc').add(1, 2) == 3\n\n\n"
    "@pytest.mark.parametrize('row', range(80))\ndef test_fast(row):\n"
    "    assert import_module('calc._fast').add(row, 2) == row + 2\n"
}


async def test_each_of_many_red_tests_is_known_by_its_words(context) -> None:
    base = {**CODE, **COMPILED, **MANY_ROWS}
    result = await judge(context, base, base)
    assert (result.status, len(result.questions)) == ("passed", 0)
    assert (await judge(context, {**base, **WRONG}, base)).status == "failed"
