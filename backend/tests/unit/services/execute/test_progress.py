"""Progress is stored in batches: in order, once, and however the database answers."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest

from app.agents.port import AgentProgress, ProgressKind
from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine, ToolData
from app.core.events.union import Event
from app.realtime.store import Batch, Fence, append_batch
from app.services.execute.progress import MAX_WAITING, ProgressBatcher, storing_progress

pytestmark = pytest.mark.anyio

START = datetime(2026, 1, 1, tzinfo=UTC)


class Store:
    """Takes batches; fails first with the errors it is given."""

    def __init__(self, *errors: Exception, is_mine: bool = True) -> None:
        self.errors = list(errors)
        self.is_mine = is_mine
        self.asked: list[Batch] = []
        self.stored: list[Event] = []
        self.was_asked = asyncio.Event()

    async def __call__(self, batch: Batch) -> bool:
        self.asked.append(batch)
        self.was_asked.set()
        await append_batch(self.encoded, uuid4(), Fence(1, 1), batch)
        if self.errors:
            raise self.errors.pop(0)
        if self.is_mine:
            self.stored += batch.events
        return self.is_mine

    async def encoded(self, statement: str, *values: object) -> int:
        assert statement
        for each in values:
            if isinstance(each, str):
                each.encode()
        return 1

    def lines(self) -> list[str]:
        assert all(isinstance(each, AgentProgressEvent) for each in self.stored)
        said = [each.data for each in self.stored]
        return [line.text for data in said if isinstance(data, AgentProgressData) for line in data.lines]


def text(number: int) -> AgentProgress:
    return AgentProgress(ProgressKind.TEXT, str(number), START + timedelta(seconds=number))


def batcher(store: Store) -> ProgressBatcher:
    return ProgressBatcher(uuid4(), "coding", 1, store)


LOST = asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
REFUSED = ConnectionRefusedError("connection refused")
DEFECT = asyncpg.UntranslatableCharacterError("unsupported Unicode escape sequence")


@pytest.mark.parametrize(
    "errors",
    [
        pytest.param([], id="at once"),
        pytest.param([LOST], id="the answer was lost"),
        pytest.param([REFUSED, REFUSED, LOST], id="the database is unavailable"),
    ],
)
async def test_everything_is_stored_before_the_block_is_left(errors: list[Exception]) -> None:
    store = Store(*errors)
    async with storing_progress(batcher(store)) as progress:
        report = progress.reporter()
        for number in range(500):
            report(text(number))
    assert store.lines() == [str(number) for number in range(500)]


async def test_a_batch_that_failed_is_repeated_as_it_was() -> None:
    store = Store(LOST)
    async with storing_progress(batcher(store)) as progress:
        report = progress.reporter()
        report(text(0))
        await store.was_asked.wait()
        report(text(1))
    assert store.asked[0] == store.asked[1]
    assert store.lines() == ["0", "1"]


async def test_what_was_dropped_is_said_even_when_the_first_try_fails() -> None:
    store = Store(LOST)
    async with storing_progress(batcher(store)) as progress:
        report = progress.reporter()
        for number in range(MAX_WAITING + 3):
            report(text(number))
    assert store.lines()[0].startswith("[3 lines were dropped")
    assert store.lines()[1:] == [str(number) for number in range(MAX_WAITING)]


async def work_fails(report: Callable[[AgentProgress], None]) -> None:
    report(text(0))
    raise RuntimeError("the work failed")


async def test_work_that_failed_does_not_wait_for_the_database() -> None:
    store = Store(*[REFUSED] * 100)
    with pytest.raises(RuntimeError, match="the work failed"):
        async with storing_progress(batcher(store)) as progress:
            await work_fails(progress.reporter())
    assert len(store.asked) == 1


async def test_what_cannot_be_stored_at_all_holds_up_neither_the_work_nor_what_follows() -> None:
    store = Store(DEFECT)
    async with storing_progress(batcher(store)) as progress:
        report = progress.reporter()
        report(text(0))
        await store.was_asked.wait()
        report(text(1))
    assert len(store.asked) == 2
    assert store.lines() == ["1"]


@pytest.mark.parametrize("kind", [ProgressKind.TOOL_CALL, ProgressKind.TOOL_RESULT])
async def test_the_name_and_the_text_of_a_tool_are_made_storable(kind: ProgressKind) -> None:
    store = Store()
    async with storing_progress(batcher(store)) as progress:
        progress.reporter()(AgentProgress(kind, "a\0\ud800", START, "Bash\ud800\0"))
    assert [each.data for each in store.stored] == [ToolData(tool="Bash?\u2400", text="a\u2400?")]


async def test_an_event_that_no_json_can_hold_is_dropped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = Store()
    line = ProgressLine(text="\ud800", at=START)
    data, run_id = AgentProgressData(lines=[line]), uuid4()
    unstorable = AgentProgressEvent(run_id=run_id, sprint_id=run_id, data=data)
    async with storing_progress(batcher(store)) as progress:
        progress.add(unstorable)
        await store.was_asked.wait()
        progress.reporter()(text(1))
    assert store.lines() == ["1"]
    assert "cannot be stored and is dropped" in caplog.text


async def test_nothing_more_is_stored_for_a_run_that_is_somebody_else_s() -> None:
    store = Store(is_mine=False)
    async with storing_progress(batcher(store)) as progress:
        report = progress.reporter()
        report(text(0))
        await store.was_asked.wait()
        report(text(1))
    assert len(store.asked) == 1
