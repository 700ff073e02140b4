"""After a connection broke, the tests that are left run away from the code all the same."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.pytest_outside.outside_records import OutsideRun
from app.runners.evaluators.testing.pytest_outside.outside_report import UNREAD
from app.runners.evaluators.testing.pytest_outside.outside_run import Outside
from app.runners.evaluators.testing.pytest_outside.pace import LATE
from app.runners.evaluators.testing.running.run import Harness
from tests.unit.runners.evaluators.testing.gate_support import run as run_gate

pytestmark = pytest.mark.anyio

FILES = ("tests/test_a.py", "tests/test_b.py")
BROKE = "the other process sends too much"


def told(*names: str, broken: str = "", **missing: str) -> OutsideRun:
    records: dict[str, Any] = {f"tests/test_{name[0]}.py::{name}": {"outcome": "passed"} for name in names}
    return OutsideRun(records, {f"tests/{name}.py": why for name, why in missing.items()}, 1.0, broken=broken)


class Scripted:
    """Gives one result after the other, and notes what was wanted."""

    def __init__(self, *runs: OutsideRun, stop: asyncio.Event | None = None, stops_at: int = 0) -> None:
        self._runs = list(runs)
        self._stop, self._stops_at = stop, stops_at
        self.wanted: list[tuple[list[str], list[str]]] = []

    async def __call__(self, _: Outside, __: RunTree, wanted: Any, *___: object) -> OutsideRun:
        self.wanted.append((list(wanted.files), sorted(wanted.done)))
        if self._stop is not None and len(self.wanted) == self._stops_at:
            self._stop.set()
        return self._runs.pop(0)


async def run(
    monkeypatch: pytest.MonkeyPatch, script: Scripted, stop: asyncio.Event | None = None
) -> OutsideRun:
    async def once(self: Outside, *arguments: Any) -> OutsideRun:
        return await script(self, *arguments)

    monkeypatch.setattr(Outside, "_run_once", once)
    tree = RunTree(dict.fromkeys(FILES, Path()), frozenset(FILES))
    return await Outside(cast("Harness", None)).run(tree, FILES, budget=60, stop=stop)


async def test_the_tests_after_the_one_that_broke_it_run(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(told("a1", "a2", broken=BROKE), told("a3", "b1"))
    found = await run(monkeypatch, script)
    ids = ["tests/test_a.py::a1", "tests/test_a.py::a2"]
    assert script.wanted == [([*FILES], []), ([*FILES], ids)]
    assert sorted(found.records) == [*ids, "tests/test_a.py::a3", "tests/test_b.py::b1"]


async def test_a_file_whose_import_broke_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(told(broken=BROKE, test_a=UNREAD, test_b=UNREAD), told("b1"))
    found = await run(monkeypatch, script)
    assert script.wanted[1:] == [([FILES[1]], [])]
    assert (list(found.records), found.missing[FILES[0]]) == (["tests/test_b.py::b1"], UNREAD)


async def test_files_whose_imports_break_it_are_left_out_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(
        told(broken=BROKE, test_a=UNREAD, test_b=UNREAD), told(broken=BROKE, test_b=UNREAD), told()
    )
    await run(monkeypatch, script)
    assert [files for files, _ in script.wanted] == [[*FILES], [FILES[1]], []]


@pytest.mark.parametrize("broken", ["", LATE])
async def test_what_ended_as_usual_is_not_run_again(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    script = Scripted(told("a1", broken=broken))
    await run(monkeypatch, script)
    assert len(script.wanted) == 1


async def test_it_begins_again_three_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(*(told(f"a{number}", broken=BROKE) for number in range(9)))
    assert len((await run(monkeypatch, script)).records) == len(script.wanted) == 4


async def test_it_does_not_begin_again_once_it_is_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = asyncio.Event()
    script = Scripted(*(told(f"a{number}", broken=BROKE) for number in range(9)), stop=stop, stops_at=2)
    await run(monkeypatch, script, stop)
    assert len(script.wanted) == 2


CALC = (
    "import os\nimport sys\n\n\ndef add(a, b):\n"
    "    if a == 13 and 'pytest' not in sys.modules:\n        os._exit(0)\n    return a + b\n"
)
TESTS = (
    "from calc import add\n\n\ndef test_13():\n    assert add(13, 1) == 14\n\n\n"
    "def test_2():\n    assert add(2, 2) == 4\n"
)


async def test_a_test_after_one_that_ends_the_process_is_evidence(context) -> None:
    base = {"calc.py": CALC, "tests/test_calc.py": TESTS}
    result = await run_gate(context, {**base, "calc.py": f"{CALC}\n\nMORE = 1\n"}, base)
    assert result.metadata["outside"]["agrees"] == 1, result.metadata["outside"]
