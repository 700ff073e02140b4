"""Lets the agents work on an attempt: claims it, runs the candidates, commits and records their work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

import logfire

from app.agents.port import AgentFailure, AgentLimits, AgentTask, FailureKind, ReportProgress
from app.core.errors import WorkspaceError
from app.core.events.agents import AgentFailedData
from app.core.events.attempts import AttemptProducedData
from app.core.events.envelope import EventData
from app.core.events.types import SprintEventType
from app.core.events.union import EVENT_ADAPTER
from app.db.engine import Sessions
from app.db.models import Attempt
from app.jobs.queue import enqueue_advance
from app.realtime.store import Fence
from app.runners.prompts.phase import prompt_for
from app.runners.retry_limits import backoff_seconds, rest_until
from app.schemas.agents import AgentSpec
from app.schemas.runs import AttemptState, ModelRole, RetryContext, RunPolicy, min_of
from app.schemas.text import storable_json, storable_text
from app.services.execute.candidate_rows import store_bundle, store_candidates, used_vendor_login
from app.services.execute.candidates import CandidateJob, CandidateRuns, Committed, ProducedCandidate
from app.services.execute.inbox import AttemptInbox
from app.services.execute.interruptions import has_work, is_interrupted, last_end
from app.services.execute.looks import ShowsWork, show_nothing
from app.services.execute.progress import ProgressBatcher, storing_progress
from app.services.record.attempts import (
    begin_run,
    new_attempt,
    reclaim,
    start_commit,
    started_data,
    tell_optimization,
    total_usage,
)
from app.services.record.history import Recorded, load_memory
from app.services.record.ledger import charge
from app.services.record.messages import deliver, due_messages, told_before
from app.services.record.transactions import Recorder, Recording, place_in
from app.services.record.waiting import forget_failures, rest_for_model

MAX_EVENT_OUTPUT = 2_000
MAX_EVENT_FILES = 100


@dataclass(frozen=True, slots=True)
class _Opened:
    run_id: UUID
    claim: UUID
    prompt: str
    start_commit: str


class Producing:
    """Produces attempts.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        candidates: runs the agents.
        limits: bounds on one attempt.
        shows: shows the workspaces while agents work.
    """

    def __init__(
        self,
        sessions: Sessions,
        recorder: Recorder,
        candidates: CandidateRuns,
        limits: AgentLimits,
        shows: ShowsWork = show_nothing,
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._candidates = candidates
        self._limits = limits
        self._shows = shows

    async def __call__(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Produce attempt `number` of the run's current phase and record the outcome."""
        phase = recorded.history.phase or ""
        with logfire.span("{phase} attempt {number}", phase=phase, number=number):
            opened = await self._open(recorded, number, fence)
            try:
                produced = await self._work(recorded, number, opened, fence)
            except (WorkspaceError, OSError) as error:
                failure = AgentFailure(FailureKind.CRASH, f"The working tree cannot be created: {error}")
                await self._record_failure(recorded, opened, {0: failure}, None, fence)
                return
            if any(each.committed for each in produced):
                await self._record_output(opened, produced, fence)
            else:
                failures = {
                    each.ended.index: each.outcome
                    for each in produced
                    if isinstance(each.outcome, AgentFailure)
                }
                kept = next((each.unfinished for each in produced if each.unfinished), None)
                vendor = used_vendor_login(produced)
                await self._record_failure(recorded, opened, failures, kept, fence, vendor_login=vendor)

    async def _open(self, recorded: Recorded, number: int, fence: Fence) -> _Opened:
        async with self._sessions() as session:
            memory = await load_memory(session, recorded)
            memory.guidance += await told_before(session, recorded.run.id, memory.phase)
            waiting = await due_messages(session, recorded.run.id)
            memory.guidance += [each.text for each in waiting]
        prompt = prompt_for(memory) + last_end(recorded, number)
        start = start_commit(recorded, number)
        claim = uuid4()
        async with self._recorder.open(recorded.run.id, fence) as recording:
            begin_run(recording, recorded)
            found = next((each for each in recorded.attempts if each.number == number), None)
            if found is None:
                context = memory.get_optimization_context()
                attempt = new_attempt(recorded, number, claim, prompt, start, context)
                recording.session.add(attempt)
                tell_optimization(recording, number, memory)
            else:
                attempt = await recording.session.get_one(Attempt, found.id)
                reclaim(recording, attempt, claim, prompt)
            told = {each.id for each in waiting}
            due = await due_messages(recording.session, recorded.run.id)
            deliver(recording, attempt, [each for each in due if each.id in told])
            recording.tell(started_data(found, prompt, start), attempt.phase, number)
        return _Opened(recorded.run.id, claim, prompt, start)

    async def _work(
        self, recorded: Recorded, number: int, opened: _Opened, fence: Fence
    ) -> list[ProducedCandidate]:
        run = recorded.run
        phase = run.phase or ""
        limits = _within_budget(self._limits, recorded)

        def task_in(tree: Path) -> AgentTask:
            inbox = AttemptInbox(self._sessions, self._recorder, run.id, fence, opened.claim)
            kept = has_work(recorded, number)
            return AgentTask(phase, number, opened.prompt, tree, limits, inbox=inbox, has_work=kept)

        spec = AgentSpec.model_validate(run.agent)
        message = f"{phase}: attempt {number}"
        continues = recorded.policy.retry_context is RetryContext.CONTINUE
        job = CandidateJob(
            run.id,
            spec,
            run.base_commit,
            opened.start_commit,
            message,
            task_in,
            recorded.policy.safe_fixes,
            conversation=phase if continues else f"{phase}/{number}",
            continues=continues,
            interrupted=is_interrupted(recorded, number),
            claim=opened.claim,
        )
        batcher = ProgressBatcher(run.id, phase, number, partial(self._recorder.progress, run.id, fence))
        async with storing_progress(batcher), self._shows(run.id, opened.claim):
            return await self._candidates.run(job, _Stage(run.id, phase, number, batcher))

    async def _record_output(
        self, opened: _Opened, produced: Sequence[ProducedCandidate], fence: Fence
    ) -> None:
        first, committed = next((each, each.committed) for each in produced if each.committed)
        usage = total_usage([each.outcome for each in produced])

        async def write(recording: Recording, row: Attempt) -> None:
            row.vendor_login |= used_vendor_login(produced)
            await store_candidates(recording, row, produced)
            for each in produced:
                used = total_usage([each.outcome])
                await charge(recording, row, ModelRole.AGENT, used, each.ended.index)
            forget_failures(row)
            row.status = AttemptState.PRODUCED
            row.output = first.ended.output
            row.head_commit, row.tree = committed.commit, committed.tree
            row.changed_files = sorted({*row.changed_files, *committed.changed_files})
            row.produced_at = datetime.now(UTC)
            row.usage = usage.model_dump(mode="json")
            row.last_error = ""
            data = AttemptProducedData(
                commit=committed.commit,
                output=storable_text(first.ended.output[:MAX_EVENT_OUTPUT]),
                changed_files=committed.changed_files[:MAX_EVENT_FILES],
                dropped=committed.dropped[:MAX_EVENT_FILES],
                fixed=committed.fixed[:MAX_EVENT_FILES],
                usage=usage,
                agent=first.ended.agent,
                model=first.ended.model,
                vendor_login=row.vendor_login,
            )
            recording.tell(data, row.phase, row.number)

        await self._recorder.outcome(opened.run_id, fence, opened.claim, AttemptState.STARTED, write)

    async def _record_failure(
        self,
        recorded: Recorded,
        opened: _Opened,
        failures: Mapping[int, AgentFailure],
        kept: Committed | None,
        fence: Fence,
        *,
        vendor_login: bool = False,
    ) -> None:
        """Record that every candidate failed, by number, and what is kept of their work."""

        async def write(recording: Recording, row: Attempt) -> None:
            row.vendor_login |= vendor_login
            for index, each in failures.items():
                await charge(recording, row, ModelRole.AGENT, total_usage([each]), index)
            if kept is not None:
                await store_bundle(recording, row, kept)
                row.head_commit, row.tree = kept.commit, kept.tree
                row.changed_files = sorted({*row.changed_files, *kept.changed_files})
            await _record_trouble(recording, row, list(failures.values()), recorded.policy)

        await self._recorder.outcome(opened.run_id, fence, opened.claim, AttemptState.STARTED, write)


async def _record_trouble(
    recording: Recording, row: Attempt, failures: Sequence[AgentFailure], policy: RunPolicy
) -> None:
    decisive = _decisive(failures)
    row.status = AttemptState.AGENT_FAILED
    row.needs_human = decisive.kind is FailureKind.CONFIGURATION
    row.last_error = storable_text("; ".join(dict.fromkeys(each.message for each in failures)))
    pause: float | None = None
    if decisive.kind is FailureKind.UNAVAILABLE:
        rest = await rest_for_model(recording, row, policy, decisive.retry_at)
        pause = (rest.until - datetime.now(UTC)).total_seconds() if rest.until else None
    elif decisive.kind is not FailureKind.BUDGET:
        pause = await _count_failure(recording, row, policy)
    data = AgentFailedData(
        kind=decisive.kind.value,
        message=row.last_error,
        failures=row.agent_failures + row.unavailable_failures,
        retry_in_seconds=pause if pause is None else max(0.0, pause),
        retry_at=row.provider_reset_at,
        vendor_login=row.vendor_login,
    )
    recording.tell(data, row.phase, row.number)


def _decisive(failures: Sequence[AgentFailure]) -> AgentFailure:
    """Return the failure that decides how the run continues: temporary ones come before permanent ones.

    Of several unavailable providers, the one that is back first counts.
    """
    for kind in (FailureKind.BUDGET, FailureKind.UNAVAILABLE):
        found = [each for each in failures if each.kind is kind]
        if found:
            unknown = next((each for each in found if each.retry_at is None), None)
            return unknown or min(found, key=lambda each: each.retry_at or datetime.max.replace(tzinfo=UTC))
    return next((each for each in failures if each.kind is not FailureKind.CONFIGURATION), failures[0])


async def _count_failure(recording: Recording, row: Attempt, policy: RunPolicy) -> float | None:
    forget_failures(row)
    row.agent_failures += 1
    if row.needs_human or row.agent_failures >= policy.max_agent_failures:
        return None
    row.not_before = rest_until(row.agent_failures, policy, datetime.now(UTC))
    await enqueue_advance(recording.session, row.run_id, at=row.not_before)
    return backoff_seconds(row.agent_failures, policy)


class _Stage:
    """Reports what the candidates of an attempt do to those who watch the run."""

    def __init__(self, run_id: UUID, phase: str, number: int, batcher: ProgressBatcher) -> None:
        self._run_id, self._phase, self._number = run_id, phase, number
        self._batcher = batcher

    def reporter(self, candidate: int) -> ReportProgress:
        return self._batcher.reporter(candidate)

    async def tell(self, event: SprintEventType, data: EventData) -> None:
        at = place_in(self._run_id, self._phase, self._number)
        payload = storable_json(data.model_dump(mode="json"))
        self._batcher.add(EVENT_ADAPTER.validate_python({**dict(at), "event": event, "data": payload}))


def _within_budget(limits: AgentLimits, recorded: Recorded) -> AgentLimits:
    """Return the limits of one attempt, capped by what is left of the run's budget."""
    budget, spent = recorded.policy.budget, recorded.history.spent
    grants = 1 + spent.budget_grants
    tokens = None if budget.tokens is None else max(1, budget.tokens * grants - spent.tokens)
    cost = None if budget.cost_usd is None else max(0.0, budget.cost_usd * grants - spent.cost_usd)
    return replace(
        limits,
        total_tokens=min_of(limits.total_tokens, tokens),
        cost_usd=min_of(limits.cost_usd, cost),
    )
