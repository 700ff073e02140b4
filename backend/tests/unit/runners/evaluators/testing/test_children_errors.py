"""What a process says at its end explains the failure of the test that started it."""

import pytest

from app.runners.evaluators.verdict import questions_of
from tests.unit.runners.evaluators.testing.gate_support import judge, run

pytestmark = pytest.mark.anyio

STARTS = """import subprocess, sys

def test_program():
    ran = subprocess.run([sys.executable, "-c", {code!r}], stdout=subprocess.PIPE)
    assert ran.stdout == b"42\\n"
"""
PROGRAM = "import shop; print(shop.answer())"
TEST = {"tests/test_program.py": STARTS.format(code=PROGRAM)}
LACKS = {
    **TEST,
    "shop/__init__.py": "def answer():\n    import shop.built as built\n\n    return built.ANSWER\n",
}
NO_MODULE = "ModuleNotFoundError: No module named 'shop.built'"


async def test_a_failure_tells_the_error_of_the_process(context):
    wrong = {**TEST, "shop.py": "def answer():\n    raise ValueError('no answer')\n"}
    result = await run(context, wrong, {**TEST, "shop.py": "def answer():\n    return 42\n"})
    assert not result.passed
    assert "because of: ValueError: no answer" in result.feedback


@pytest.mark.parametrize("said", ["42", "Error", "a warning\\nerror: x", "ValueError"])
async def test_what_is_no_error_of_python_is_not_told(context, said: str):
    wrong = {
        **TEST,
        "shop.py": f"import sys\n\ndef answer():\n    sys.stderr.write('{said}')\n    return 1\n",
    }
    result = await run(context, wrong, {**TEST, "shop.py": "def answer():\n    return 42\n"})
    assert not result.passed
    assert "because of" not in result.feedback


async def test_a_module_that_only_a_build_writes_is_no_fault_of_the_change(context):
    changed = {**LACKS, "shop/__init__.py": "# The shop.\n" + LACKS["shop/__init__.py"]}
    made = context(changed, LACKS)
    made["goal"] = "Explain the shop"
    result = await judge(made)
    (question,) = questions_of([result])
    assert question.text.startswith("No test of the base passes here, with or without the change")
    assert NO_MODULE in question.why


async def test_a_module_that_the_test_waits_for_is_still_to_be_written(context):
    waits = {"tests/test_program.py": STARTS.format(code="import shop.cli"), "shop/__init__.py": ""}
    made = context({**waits, "shop/__init__.py": "# The shop.\n"}, waits)
    made["goal"] = "Explain the shop"
    result = await judge(made)
    assert not result.passed
    assert questions_of([result]) == ()
