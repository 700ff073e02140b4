"""What the engine makes of a run, from decision to record: on a real database, with fakes around it."""

import asyncio
import errno
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from app.agents.port import AgentFailure, AgentOutcome, AgentResult, AgentTask, FailureKind
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.api.escalations import EscalationResolve
from app.schemas.runs import EscalationDecision
from tests.integration.services.engine_support import Agents, Engine, Say, holds
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

PASSED, FAILED, ERRORED = EvaluationStatus.PASSED, EvaluationStatus.FAILED, EvaluationStatus.ERRORED


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


class Gateway:
    """A place in an agent's or a gate's work where a test waits for it, and lets it go on."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def agent(self, task: AgentTask) -> AgentOutcome:
        self.reached.set()
        await self.open.wait()
        return AgentResult("late")

    async def gate(self, phase: str, attempt: int) -> EvaluationStatus:
        self.reached.set()
        await self.open.wait()
        return PASSED


def saying(*answers: EvaluationStatus) -> Say:
    left = list(answers)

    async def say(phase: str, attempt: int) -> EvaluationStatus:
        return left.pop(0) if left else PASSED

    return say


async def fails(task: AgentTask) -> AgentOutcome:
    return AgentFailure(FailureKind.UNAVAILABLE, "the provider is down")


async def has_no_key(task: AgentTask) -> AgentOutcome:
    return AgentFailure(FailureKind.CONFIGURATION, "there is no key")


ENDS: dict[str, tuple[Say, list[Any], dict[str, Any], str, str, list[tuple[str, int]]]] = {
    # what gates say, what agents do, policy, how the run rests, why, what agents were asked
    "every phase passes at once": (
        holds,
        [],
        {},
        "completed",
        "every phase passed",
        [("discovery", 1), ("coding", 1), ("verification", 1)],
    ),
    "the second attempt passes": (
        saying(PASSED, FAILED, PASSED, PASSED),
        [],
        {},
        "completed",
        "every phase passed",
        [("discovery", 1), ("coding", 1), ("coding", 2), ("verification", 1)],
    ),
    "attempts run out": (
        saying(FAILED, FAILED),
        [],
        {"max_attempts": 2},
        "waiting",
        "2 of 2 attempts failed",
        [("discovery", 1), ("discovery", 2)],
    ),
    "an agent fails and is tried again under the same number": (
        holds,
        [fails, fails],
        {},
        "completed",
        "every phase passed",
        [("discovery", 1), ("discovery", 1), ("discovery", 1), ("coding", 1), ("verification", 1)],
    ),
    "an agent fails for good": (
        holds,
        [fails] * 3,
        {"max_agent_failures": 3},
        "waiting",
        "The model was unavailable 3 times in a row; the last time: the provider is down",
        [("discovery", 1)] * 3,
    ),
    "an agent that only a human can help": (
        holds,
        [has_no_key],
        {},
        "waiting",
        "there is no key",
        [("discovery", 1)],
    ),
    "evaluators without a verdict are asked again, the agent is not": (
        saying(ERRORED, ERRORED, PASSED),
        [],
        {"max_evaluation_failures": 3},
        "completed",
        "every phase passed",
        [("discovery", 1), ("coding", 1), ("verification", 1)],
    ),
}


@pytest.mark.parametrize(
    ("say", "steps", "policy", "status", "reason", "asked"), ENDS.values(), ids=ENDS.keys()
)
async def test_how_a_run_ends(
    say: Say,
    steps: list[Any],
    policy: dict[str, Any],
    status: str,
    reason: str,
    asked: list[tuple[str, int]],
    cases: UseCases,
    tmp_path: Path,
) -> None:
    agents = Agents(list(steps))
    engine = Engine(cases, tmp_path, agents, say)
    run_id = await engine.run("discovery", "coding", "verification", **policy)
    assert await engine.until_rest(run_id) == status
    assert (await cases.rows.get(run_id)).status_reason == reason
    assert agents.asked == asked
    told = await engine.told(run_id)
    produced = [number for name, number in told if name == "attempt.produced"]
    assert len(produced) == len(await engine.attempts(run_id)) - (len(steps) == len(asked))


async def test_a_late_job_changes_nothing(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents()
    engine = Engine(cases, tmp_path, agents)
    run_id = await engine.run()
    await engine.advance(run_id, job=7)
    told = await engine.told(run_id)
    await engine.advance(run_id, job=6)
    assert (await engine.told(run_id), agents.asked) == (told, [("coding", 1)])


async def test_a_zombie_s_outcome_is_dropped(cases: UseCases, tmp_path: Path) -> None:
    zombie = Gateway()
    agents = Agents([zombie.agent])
    engine = Engine(cases, tmp_path, agents)
    run_id = await engine.run()
    job = engine.begin(run_id)
    await zombie.reached.wait()
    await engine.advance(run_id)
    told = await engine.told(run_id)
    zombie.open.set()
    await job
    assert await engine.told(run_id) == told
    assert told.count(("attempt.produced", 1)) == 1
    attempt = (await engine.attempts(run_id))[0]
    assert (attempt.lost_workers, attempt.output) == (1, "coding 1 VERIFICATION_SUCCESS")
    assert agents.asked == [("coding", 1), ("coding", 1)]


async def test_a_worker_that_dies_while_judging_costs_no_second_work(cases: UseCases, tmp_path: Path) -> None:
    dying, agents = Gateway(), Agents()
    engine = Engine(cases, tmp_path, agents, dying.gate)
    run_id = await engine.run()
    job = engine.begin(run_id)
    await dying.reached.wait()
    dying.open.set()
    await engine.advance(run_id)
    await job
    assert agents.asked == [("coding", 1)]
    names = [name for name, _ in await engine.told(run_id)]
    assert (names.count("evaluation.started"), names.count("evaluation.completed")) == (2, 1)


async def test_a_job_that_fails_again_and_again_asks_a_human_and_says_why(
    cases: UseCases, tmp_path: Path
) -> None:
    engine = Engine(cases, tmp_path, Agents())
    engine.trees.judging_trouble = KeyError("no such table")
    run_id = await engine.run(max_lost_workers=3)
    for _ in range(3):
        with pytest.raises(KeyError):
            await engine.advance(run_id)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert (escalation.reason_kind, escalation.reason) == (
        "worker_lost",
        "Work on attempt 1 broke off 3 times; the last time the worker failed: KeyError: 'no such table'",
    )


@pytest.mark.parametrize("where", ["agent", "gate"])
async def test_several_deaths_of_the_same_attempt_ask_a_human(
    where: str, cases: UseCases, tmp_path: Path
) -> None:
    deadly = [Gateway() for _ in range(3)]
    gates = list(deadly) if where == "gate" else []

    async def say(phase: str, attempt: int) -> EvaluationStatus:
        return await gates.pop(0).gate(phase, attempt) if gates else PASSED

    agents = Agents([each.agent for each in deadly] if where == "agent" else [])
    engine = Engine(cases, tmp_path, agents, say)
    run_id = await engine.run(max_lost_workers=3)
    jobs: list[asyncio.Task[None]] = []
    for each in deadly:
        jobs.append(engine.begin(run_id))
        await each.reached.wait()
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert (escalation.reason_kind, escalation.reason) == (
        "worker_lost",
        "3 workers died while working on attempt 1",
    )
    assert (await engine.attempts(run_id))[0].lost_workers == 3
    # What a human grants is a whole new chance, and the old workers have no part in it.
    answer = EscalationResolve(decision=EscalationDecision.RETRY)
    await cases.escalations.resolve(escalation.id, answer, "ada")
    for each in deadly:
        each.open.set()
    await asyncio.wait(jobs)
    assert await engine.until_rest(run_id) == "completed"
    assert (await engine.attempts(run_id))[0].lost_workers == 0
    assert (await engine.told(run_id)).count(("attempt.produced", 1)) == 1


@pytest.mark.parametrize("where", ["agent", "gate"])
async def test_a_worker_that_is_stopped_hands_over(where: str, cases: UseCases, tmp_path: Path) -> None:
    stopped = Gateway()
    gates = [stopped] if where == "gate" else []

    async def say(phase: str, attempt: int) -> EvaluationStatus:
        return await gates.pop(0).gate(phase, attempt) if gates else PASSED

    agents = Agents([stopped.agent] if where == "agent" else [])
    engine = Engine(cases, tmp_path, agents, say)
    run_id = await engine.run()
    job = engine.begin(run_id)
    await stopped.reached.wait()
    job.cancel()
    await asyncio.wait([job])
    assert job.cancelled()
    attempt = (await engine.attempts(run_id))[0]
    expected = "agent_failed" if where == "agent" else "produced"
    assert (attempt.status, attempt.agent_failures, attempt.lost_workers) == (expected, 0, 0)
    # The queue takes the same job again.
    await engine.advance(run_id, job=1, again=1)
    told = await engine.told(run_id)
    assert (await cases.rows.get(run_id)).status == "completed"
    assert [told.count((name, 1)) for name in ("attempt.interrupted", "attempt.produced")] == [1, 1]


@pytest.mark.parametrize("where", ["agent", "gate"])
async def test_nothing_follows_a_cancellation(where: str, cases: UseCases, tmp_path: Path) -> None:
    busy = Gateway()
    agents = Agents([busy.agent] if where == "agent" else [])
    engine = Engine(cases, tmp_path, agents, busy.gate if where == "gate" else holds)
    run_id = await engine.run()
    job = engine.begin(run_id)
    await busy.reached.wait()
    await cases.cancels.cancel(run_id, "enough", "ada")
    busy.open.set()
    await job
    assert (await engine.told(run_id))[-1] == ("run.cancelled", None)
    await engine.advance(run_id)
    assert (await engine.told(run_id))[-1] == ("run.cancelled", None)
    assert (await cases.rows.get(run_id)).status == "cancelled"


@pytest.mark.parametrize("where", ["agent", "gate"])
async def test_lost_connections_cost_no_work(where: str, cases: UseCases, tmp_path: Path) -> None:
    async def cut_then_pass(phase: str, attempt: int) -> EvaluationStatus:
        await engine.cut()
        return PASSED

    async def cut_then_work(task: AgentTask) -> AgentOutcome:
        await engine.cut()
        return AgentResult("done")

    agents = Agents([cut_then_work] if where == "agent" else [])
    engine = Engine(cases, tmp_path, agents, cut_then_pass if where == "gate" else holds)
    run_id = await engine.run()
    await engine.advance(run_id)
    assert (await cases.rows.get(run_id)).status == "completed"
    assert agents.asked == [("coding", 1)]
    told = await engine.told(run_id)
    assert [told.count((name, 1)) for name in ("attempt.produced", "evaluation.completed")] == [1, 1]


async def test_a_full_disk_is_no_fault_of_the_work(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents()
    engine = Engine(cases, tmp_path, agents)
    engine.trees.trouble = OSError(errno.ENOSPC, "No space left on device")
    run_id = await engine.run(max_agent_failures=2)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert escalation.reason_kind == "agent_unavailable"
    assert "No space left on device" in escalation.reason
    engine.trees.trouble = None
    await cases.escalations.resolve(
        escalation.id, EscalationResolve(decision=EscalationDecision.RETRY), "ada"
    )
    assert await engine.until_rest(run_id) == "completed"
    assert agents.asked == [("coding", 1)]


async def test_a_full_disk_while_judging_gives_no_verdict(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents()
    engine = Engine(cases, tmp_path, agents)
    engine.trees.judging_trouble = OSError(errno.ENOSPC, "No space left on device")
    run_id = await engine.run(max_evaluation_failures=2)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert escalation.reason_kind == "evaluator_unavailable"
    assert "No space left on device" in escalation.reason
    engine.trees.judging_trouble = None
    await cases.escalations.resolve(
        escalation.id, EscalationResolve(decision=EscalationDecision.RETRY), "ada"
    )
    assert await engine.until_rest(run_id) == "completed"
    attempt = (await engine.attempts(run_id))[0]
    assert (agents.asked, attempt.number, attempt.verdict) == ([("coding", 1)], 1, "passed")
