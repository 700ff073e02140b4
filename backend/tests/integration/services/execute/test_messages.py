"""What people say to agents: told once, recorded, and part of later prompts."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.agents.port import AgentOutcome, AgentResult, AgentTask
from app.core.errors import ConflictError, NotFoundError
from app.realtime.store import Fence
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.api.messages import MessageCreate, MessageMode, MessageStatus
from app.services.control.messages import MessageService
from app.services.execute.inbox import AttemptInbox
from app.services.record.transactions import Recorder, Recording
from tests.integration.services.engine_support import Agents, Engine
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


class Working:
    """An agent at work that looks into its inbox when a test lets it."""

    def __init__(self) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        self.told: list[str | None] = []

    async def __call__(self, task: AgentTask) -> AgentOutcome:
        self.reached.set()
        await self.open.wait()
        assert task.inbox is not None
        self.told = [await task.inbox.take(at_end=at_end) for at_end in (False, True, True)]
        return AgentResult("done")


async def fails_first(phase: str, attempt: int) -> EvaluationStatus:
    return EvaluationStatus.FAILED if attempt == 1 else EvaluationStatus.PASSED


async def test_an_agent_at_work_is_told_once_and_later_prompts_repeat_it(
    cases: UseCases, tmp_path: Path
) -> None:
    working, messages = Working(), MessageService(cases.sessions, cases.bell)
    engine = Engine(cases, tmp_path, Agents([working]), fails_first)
    run_id = await engine.run()
    job = engine.begin(run_id)
    await working.reached.wait()
    await messages.send(run_id, MessageCreate(text="Not at the end.", mode=MessageMode.QUEUE), "ada")
    await messages.send(run_id, MessageCreate(text="Keep it small."), "ada")
    working.open.set()
    await job
    await engine.until_rest(run_id)
    assert working.told == ["Keep it small.", "Not at the end.", None]
    shown = (await messages.all(run_id)).items
    assert [(each.status, each.phase, each.attempt) for each in shown] == [("delivered", "coding", 1)] * 2
    first, second = await engine.attempts(run_id)
    assert (first.steered, second.steered) == (True, False)
    assert "Keep it small." in second.prompt
    types = [each for each, _ in await engine.told(run_id)]
    assert types.count("agent.message") == 4, "queued and delivered"


class LostReplies(Recorder):
    """Loses the connection at its first transaction: before the commit, or right after it."""

    def __init__(self, cases: UseCases, moment: str) -> None:
        super().__init__(cases.sessions, cases.bell)
        self.moment = moment

    @asynccontextmanager
    async def open(self, run_id: UUID, fence: Fence, *, charges: bool = False) -> AsyncGenerator[Recording]:
        moment, self.moment = self.moment, ""
        async with super().open(run_id, fence, charges=charges) as recording:
            yield recording
            if moment == "before":
                raise ConnectionResetError
        if moment == "after":
            raise ConnectionResetError


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_message_is_told_once_although_the_connection_is_lost(moment: str, cases: UseCases) -> None:
    messages, claim = MessageService(cases.sessions, cases.bell), uuid4()
    run_id = await cases.rows.run()
    await cases.rows.attempt(run_id, claim=claim, status="started")
    await messages.send(run_id, MessageCreate(text="Keep it small."), "ada")
    recorder = LostReplies(cases, moment)
    inbox = AttemptInbox(cases.sessions, recorder, run_id, Fence(0, 0), claim).of()
    assert [await inbox.take(at_end=False) for _ in range(3)] == [None, "Keep it small.", None]
    assert (await cases.rows.events(run_id)) == ["agent.message", "agent.message"]


async def test_a_message_that_came_too_late_is_told_in_the_next_attempt(
    cases: UseCases, tmp_path: Path
) -> None:
    messages, agents = MessageService(cases.sessions, cases.bell), Agents()
    engine = Engine(cases, tmp_path, agents)
    run_id = await engine.run()
    await messages.send(run_id, MessageCreate(text="Read the README."), "ada")
    await engine.until_rest(run_id)
    (attempt,) = await engine.attempts(run_id)
    assert attempt.steered
    assert "Read the README." in attempt.prompt
    (message,) = (await messages.all(run_id)).items
    assert message.status is MessageStatus.DELIVERED


async def test_a_run_that_ends_refuses_what_waits(cases: UseCases, tmp_path: Path) -> None:
    messages = MessageService(cases.sessions, cases.bell)
    run_id = await Engine(cases, tmp_path, Agents()).run()
    await messages.send(run_id, MessageCreate(text="Too late."), "ada")
    await cases.cancels.cancel(run_id, "", "ada")
    (message,) = (await messages.all(run_id)).items
    assert (message.status, message.reason) == ("refused", "the run was cancelled")
    with pytest.raises(ConflictError, match="cancelled"):
        await messages.send(run_id, MessageCreate(text="More."), "ada")


async def test_a_run_that_does_not_exist_takes_no_message(cases: UseCases) -> None:
    messages = MessageService(cases.sessions, cases.bell)
    with pytest.raises(NotFoundError):
        await messages.send(uuid4(), MessageCreate(text="Hello."), "ada")
