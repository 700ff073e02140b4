"""The baseline of a run: measured beside its first work, kept as one row, and taken over by later runs."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update

from app.core.errors import NotFoundError, WorkspaceError
from app.db.models import EventRow, Run, RunBaseline
from app.realtime.store import Fence
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.phase_panel import PhasePanel
from app.services.execute.advance import KindSteps
from app.services.execute.baselines import BaselineKeeper
from app.services.record.baselines import load_baseline
from app.services.record.history import Recorded, load_run
from app.services.record.transactions import FencedOutError, Recorder
from app.workspaces.store import JudgedPair
from tests.integration.services.support import UseCases, use_cases
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

FENCE = Fence(0, 0)
PROJECT = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": (
        "from calc import add\n\ndef test_zero():\n    assert add(0, 0) == 0\n\n"
        "def test_add():\n    assert add(1, 2) == 3\n"
    ),
}
SWITCHED_OFF = b"[evaluators.pytest]\nenabled = false\n"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@dataclass
class Trees:
    """Gives a base with these files, and counts how often it was asked for."""

    place: Path
    files: Mapping[str, str] = field(default_factory=lambda: PROJECT)
    project_file: bytes | None = None
    asked: int = 0

    @asynccontextmanager
    async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
        self.asked += 1
        base = self.place / str(uuid4()) / "base"
        base.mkdir(parents=True)
        for name, text in self.files.items():
            (base / name).write_text(text)
        yield JudgedPair(base, base, ())

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        return self.project_file


class NoTrees(Trees):
    """Has no place for trees."""

    @asynccontextmanager
    async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
        raise WorkspaceError("the disk is full")
        yield


def keeper(cases: UseCases, trees: Trees) -> BaselineKeeper:
    registry = EvaluatorRegistry()
    registry.register(PytestEvaluator(timeout=PATIENCE), ["coding"], gate=True)
    return BaselineKeeper(cases.sessions, Recorder(cases.sessions, cases.bell), trees, PhasePanel(registry))


async def idle(recorded: Recorded, number: int, fence: Fence) -> None:
    """Work on an attempt without any effect."""


async def go(cases: UseCases, trees: Trees, run_id: UUID, produce=idle, evaluate=idle) -> None:
    """Produce an attempt of a run and judge it."""
    steps = keeper(cases, trees).around(KindSteps(produce, evaluate))
    for step in (steps.produce, steps.evaluate):
        async with cases.sessions() as session:
            recorded = await load_run(session, run_id)
        await step(recorded, 1, FENCE)


async def events(cases: UseCases, run_id: UUID) -> list[dict[str, object]]:
    async with cases.sessions() as session:
        statement = select(EventRow.data).where(EventRow.run_id == run_id).order_by(EventRow.sequence)
        return list(await session.scalars(statement))


async def rows(cases: UseCases) -> list[RunBaseline]:
    async with cases.sessions() as session:
        return list(await session.scalars(select(RunBaseline).order_by(RunBaseline.created_at)))


async def test_a_run_has_one_baseline_and_a_later_one_takes_it_over(cases: UseCases, tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    first, second = await cases.rows.run(), await cases.rows.run()
    await go(cases, trees, first)
    await go(cases, trees, first)
    assert trees.asked == 1
    assert await cases.rows.events(first) == ["baseline.completed"]
    told = (await events(cases, first))[0]
    assert (told["total"], told["red"], told["passing"], told["reused"]) == (2, 1, 1, False)
    assert told["message"] == "1 test is red at the base; 1 of 2 pass at the base."

    await go(cases, trees, second)
    assert [(each.run_id, each.reused) for each in await rows(cases)] == [(first, False), (second, True)]
    assert (await events(cases, second))[0]["reused"] is True

    detail = await cases.queries.get(second)
    assert detail.baseline is not None
    assert [each.id for each in detail.baseline.red_tests] == ["test_calc.py::test_add"]
    view = await cases.queries.baseline(second)
    assert view.reused
    assert view.baseline.passing == ["test_calc.py::test_zero"]
    assert "assert -1 == 3" in view.baseline.red[0].message


async def test_the_agent_does_not_wait_for_the_baseline(cases: UseCases, tmp_path: Path) -> None:
    run_id, told = await cases.rows.run(), asyncio.Event()

    class Waiting(Trees):
        @asynccontextmanager
        async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
            await told.wait()
            async with super().judged(run_id, commit, base_commit) as found:
                yield found

    async def produce(recorded: Recorded, number: int, fence: Fence) -> None:
        assert await rows(cases) == []
        told.set()

    await go(cases, Waiting(tmp_path), run_id, produce)
    assert len(await rows(cases)) == 1


async def test_a_worker_that_dies_leaves_the_baseline_to_the_next_one(
    cases: UseCases, tmp_path: Path
) -> None:
    run_id, started = await cases.rows.run(), asyncio.Event()

    class Dying(Trees):
        @asynccontextmanager
        async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
            started.set()
            await asyncio.Event().wait()
            yield JudgedPair(self.place, self.place, ())

    lost = asyncio.create_task(go(cases, Dying(tmp_path), run_id))
    await started.wait()
    lost.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lost
    assert await rows(cases) == []

    judged: list[bool] = []

    async def evaluate(recorded: Recorded, number: int, fence: Fence) -> None:
        async with cases.sessions() as session:
            judged.append(await load_baseline(session, recorded.run.id) is not None)

    async with cases.sessions() as session:
        recorded = await load_run(session, run_id)
    await keeper(cases, Trees(tmp_path)).around(KindSteps(idle, evaluate)).evaluate(recorded, 1, FENCE)
    assert judged == [True], "what the worker did not finish is measured before the verdict"
    assert await cases.rows.events(run_id) == ["baseline.completed"]


async def test_a_worker_that_lost_its_run_records_nothing(cases: UseCases, tmp_path: Path) -> None:
    run_id = await cases.rows.run()
    async with cases.sessions() as session:
        recorded = await load_run(session, run_id)
    async with cases.sessions.begin() as session:
        await session.execute(update(Run).where(Run.id == run_id).values(fence_job=7))
    with pytest.raises(FencedOutError):
        await keeper(cases, Trees(tmp_path)).around(KindSteps(idle, idle)).produce(recorded, 1, FENCE)
    assert await rows(cases) == []


async def test_a_failing_agent_ends_the_measurement(cases: UseCases, tmp_path: Path) -> None:
    async def produce(recorded: Recorded, number: int, fence: Fence) -> None:
        raise FencedOutError("the run is cancelled")

    run_id = await cases.rows.run()
    with pytest.raises(FencedOutError, match="cancelled"):
        await go(cases, Trees(tmp_path), run_id, produce)
    assert await rows(cases) == []


@pytest.mark.parametrize(
    ("trees", "note", "told"),
    [
        pytest.param({"files": {"calc.py": ""}}, "The base has no Python tests.", [], id="no tests"),
        pytest.param({"project_file": SWITCHED_OFF}, None, [], id="no test gate"),
    ],
)
async def test_a_base_without_tests_or_gate_is_no_event(
    cases: UseCases, tmp_path: Path, trees: dict[str, object], note: str | None, told: list[str]
) -> None:
    run_id = await cases.rows.run()
    await go(cases, Trees(tmp_path, **trees), run_id)
    found = (await cases.queries.get(run_id)).baseline
    assert (found.note if found else None) == note
    assert await cases.rows.events(run_id) == told
    if note is None:
        with pytest.raises(NotFoundError, match="no baseline"):
            await cases.queries.baseline(run_id)


async def test_a_baseline_that_cannot_be_measured_says_why_and_is_not_taken_over(
    cases: UseCases, tmp_path: Path
) -> None:
    first, second = await cases.rows.run(), await cases.rows.run()
    await go(cases, NoTrees(tmp_path), first)
    assert (await events(cases, first))[0]["trouble"] == "the disk is full"
    detail = await cases.queries.get(first)
    assert detail.baseline is not None
    assert detail.baseline.note == "The base's tests gave no baseline: the disk is full"
    await go(cases, Trees(tmp_path), second)
    assert [each.reused for each in await rows(cases)] == [False, False]
