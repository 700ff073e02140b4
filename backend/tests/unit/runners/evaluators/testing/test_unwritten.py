"""Which red tests wait for code that is still to be written."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.unwritten import waits_for_code
from tests.unit.runners.evaluators.testing.red_support import NAME, written


@pytest.mark.parametrize(
    ("message", "goal", "content", "waits"),
    [
        ("ModuleNotFoundError: No module named 'memory_profiler'", "Merge a branch", "", False),
        ("ModuleNotFoundError: No module named 'memory_profiler'", "Profile memory use", "", True),
        ("ModuleNotFoundError: No module named 'memory_profiler'", "Merge 'origin/pr/446'", "", False),
        ("ModuleNotFoundError: No module named 'app'", "Write the application", "", True),
        ("ModuleNotFoundError: No module named 'exporter'", "Add an export to CSV", "", True),
        ("ModuleNotFoundError: No module named 'calc.sums'", "Merge a branch", "", True),
        ("ModuleNotFoundError: No module named 'calc'", "Mend calc", "", False),
        ("ImportError: cannot import name 'add' from 'calc' (calc.py)", "Merge a branch", "", True),
        (
            "tests/test_a.py:7: NameError: name 'text_' is not defined",
            "Merge",
            "from calc import add\n",
            False,
        ),
        ("tests/test_a.py:7: NameError: name 'add' is not defined", "Merge", "from calc import *\n", True),
        ("calc.py:7: NameError: name 'add' is not defined", "Merge", "from calc import add\n", True),
        ("tests/test_a.py:7: AssertionError: 3", "Merge", "", False),
        ("ImportError: cannot import name 'make' from 'tests.test_a' (tests/test_a.py)", "Merge", "", False),
        ("AttributeError: module 'tests.test_a' has no attribute 'make'", "Merge", "", False),
        ("ModuleNotFoundError: No module named 'tests.helpers'", "Merge", "", False),
    ],
)
def test_what_waits_for_code(message: str, goal: str, content: str, waits: bool, tmp_path: Path) -> None:
    written(tmp_path, "tests/test_a.py", content)
    written(tmp_path, "calc.py", "")
    assert waits_for_code(message, NAME, Goal(words=goal), BaseCode(tmp_path, ["calc.py"])) is waits


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("try:\n    from arrow.fs import Selector\nexcept ImportError:\n    pass\n", False),
        ("try:\n    import arrow as Selector\nexcept ImportError:\n    pass\n", False),
        ("try:\n    from calc.more import Selector\nexcept ImportError:\n    pass\n", True),
        ("try:\n    from .arrow import Selector\nexcept ImportError:\n    pass\n", True),
        ("try:\n    from arrow.fs import Other\nexcept ImportError:\n    pass\n", True),
        ("from arrow.fs import Selector\n", True),
    ],
)
def test_a_name_of_an_optional_package_is_not_to_be_written(tmp_path: Path, text: str, waits: bool) -> None:
    written(tmp_path, "calc.py", text)
    message = "calc.py:7: NameError: name 'Selector' is not defined"
    assert waits_for_code(message, NAME, Goal(words="Merge"), BaseCode(tmp_path, ["calc.py"])) is waits
