"""Projects whose tests pytest does not run."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

CODE = {"calc.py": "def add(a, b):\n    return a + b\n"}
CHANGED = {"calc.py": "def add(a, b):\n    return b + a\n"}


@pytest.mark.parametrize("name", ["run_tests.py", "testsuite/N801.txt", "tests/cases.json", "test.sh"])
async def test_a_project_with_tests_of_another_kind_is_asked_about(context, name: str) -> None:
    other = {name: "pass\n"}
    result = await run(context, {**CHANGED, **other}, {**CODE, **other})
    assert result.status == "failed"
    (question,) = result.questions
    assert "may the change stand without any?" in question.text
    assert f"`{name}`" in question.why
    assert "[[command]]" in question.why


@pytest.mark.parametrize("options", [{"protected": "fail"}, {"compare_base": False}])
async def test_a_person_is_asked_only_where_that_is_the_policy(context, options) -> None:
    other = {"run_tests.py": "pass\n"}
    result = await run(context, {**CHANGED, **other}, {**CODE, **other}, **options)
    assert (result.status, result.questions) == ("failed", [])


async def test_a_project_without_any_tests_fails(context) -> None:
    result = await run(context, CHANGED, CODE)
    assert (result.status, result.questions) == ("failed", [])
    assert "No tests were collected" in result.feedback


async def test_tests_that_do_not_load_fail(context) -> None:
    other = {"run_tests.py": "pass\n"}
    result = await run(context, {**CHANGED, **other, "test_calc.py": "import gone\n"}, {**CODE, **other})
    assert (result.status, result.questions) == ("failed", [])
