"""Functions that marks deselect get no rows, and all others do."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_runner.deselected import DeselectedFunctions
from tests.unit.runners.evaluators.testing.gate_support import CODE, TEST, run


def fast() -> None: ...


def stressed() -> None: ...


stressed.pytestmark = [SimpleNamespace(name="stress"), SimpleNamespace(name="parametrize")]


def is_left_out(expression: str, function: Any, above: tuple[str, ...] = (), sources: Any = ()) -> bool:
    marks = [SimpleNamespace(name=each) for each in above]
    collector: Any = SimpleNamespace(
        config=SimpleNamespace(option=SimpleNamespace(markexpr=expression)), iter_markers=lambda: iter(marks)
    )
    return DeselectedFunctions(list(sources)).pytest_pycollect_makeitem(collector, function) == []


@pytest.mark.parametrize(
    ("expression", "left_out"),
    [
        pytest.param("not stress", True, id="has the mark"),
        pytest.param("not stress and not slow", True, id="has one of two"),
        pytest.param("not (stress or slow)", True, id="has one of either"),
        pytest.param("not slow", False, id="its rows may have the mark or not"),
        pytest.param("slow", False, id="its rows may have the wanted mark"),
        pytest.param("stress", False, id="wanted"),
        pytest.param("not stress or slow", False, id="its rows may be wanted for another mark"),
        pytest.param("not (stress and slow)", False, id="not known to have both"),
        pytest.param("not stress-test", False, id="a name that Python does not know"),
        pytest.param("not stress(level=3)", False, id="with an argument"),
        pytest.param("", False, id="no expression"),
    ],
)
def test_only_functions_none_of_whose_rows_can_run_are_left_out(expression: str, *, left_out: bool) -> None:
    assert is_left_out(expression, stressed) == left_out
    assert not is_left_out(expression, fast)
    assert is_left_out(expression, fast, ("stress", "parametrize")) == left_out


@pytest.mark.parametrize("hook", ["pytest_collection_modifyitems", "pytest_itemcollected"])
def test_a_project_that_may_take_marks_away_gets_all_rows(hook: str, tmp_path: Path) -> None:
    conftest = tmp_path / "conftest.py"
    conftest.write_text(f"def {hook}(): ...\n")
    assert not is_left_out("not stress", stressed, sources=[str(conftest)])


@pytest.mark.anyio
async def test_the_gate_makes_no_rows_of_deselected_functions(context) -> None:
    """Neither beside the code nor away from it, nor where the base's tests are listed."""
    files = {
        **CODE,
        **TEST,
        "pytest.ini": "[pytest]\naddopts = -m 'not stress'\nmarkers = stress: takes long\n",
        "tests/test_stress.py": (
            "import pytest\n\nimport calc\n\n\ndef pytest_generate_tests(metafunc):\n"
            "    assert metafunc.function.__name__ != 'test_stress'\n\n\n"
            "@pytest.mark.stress\ndef test_stress(n):\n    assert calc.add(n, n) == 2 * n\n\n\n"
            "def test_rows():\n    assert calc.add(2, 2) == 4\n"
        ),
    }
    result = await run(context, {**files, "calc.py": f"{CODE['calc.py']}\n\nONE = 1\n"}, files)
    assert result.status == "passed", result.feedback
    assert result.metadata["passed_tests"] == 2
    assert result.metadata["outside"]["agrees"] == 2
