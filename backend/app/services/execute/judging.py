"""Judges the recorded output of an attempt: evaluates every candidate, chooses one, records the verdict."""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol
from uuid import UUID

import logfire
from sqlalchemy import select

from app.agents.gateway_port import current_labels, labelled
from app.agents.models.judge import Judge
from app.core.errors import WorkspaceError
from app.core.events.candidates import JudgeStartedData
from app.core.events.evaluations import EvaluationStartedData, EvaluatorCompletedEvent
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Run
from app.db.outages import is_outage, through_outages
from app.realtime.store import Batch, Fence
from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.models.digest import digest
from app.runners.evaluators.models.outage import outage_of
from app.runners.evaluators.project.project_file import MAX_BYTES
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.verdict import VerdictStatus
from app.runners.phase_panel import PhasePanel
from app.schemas.agents import AgentSpec
from app.schemas.project_file import PROJECT_FILE
from app.schemas.runs import AttemptState, ModelRole
from app.services.execute.choosing import leaders, reason_of_gates, reason_of_judge
from app.services.execute.held_out import HeldOutPanels
from app.services.execute.verdicts import (
    JudgedCandidate,
    NoVerdict,
    evaluation_data,
    record_no_verdict,
    record_verdict,
)
from app.services.record.attempts import judge_decided, total_usage
from app.services.record.baselines import load_baseline
from app.services.record.evaluations import load_too_slow
from app.services.record.history import Recorded, load_acceptances, load_latest_feedback
from app.services.record.known_failures import load_known_failures
from app.services.record.ledger import charge
from app.services.record.transactions import Recorder, Recording, place_in
from app.services.record.waiting import end_wait
from app.workspaces.store import JudgedPair


class JudgedCopies(Protocol):
    """Lays out commits for judging."""

    def judged(self, run_id: UUID, commit: str, base_commit: str) -> AbstractAsyncContextManager[JudgedPair]:
        """Return fresh copies of a commit and of the base; they are removed when the block is left."""
        ...

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        """Return the first `limit` bytes of a file in a commit, or None if the commit lacks it."""
        ...


@dataclass(frozen=True, slots=True)
class _Case:
    """One attempt to judge, the panel for its project, and the fence under which the outcome is recorded."""

    recorded: Recorded
    attempt: Attempt
    panel: PhasePanel
    fence: Fence

    @property
    def run(self) -> Run:
        return self.recorded.run


@dataclass(frozen=True, slots=True)
class _Material:
    """What all candidates of an attempt share: context, accepted findings, and advisers to leave out."""

    context: EvaluationContext
    acceptances: Sequence[Acceptance]
    too_slow: Collection[str]


@dataclass(frozen=True, slots=True)
class _Contender:
    index: int
    output: str
    changed_files: list[str]
    diff: str


class Judging:
    """Judges attempts.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        panel: the operator's evaluators; each project adds its settings.
        copies: lays out the trees to judge.
        judge: chooses between candidates that the gates rank alike.
        held_out: adds the gate of held-out tests; None if no run has such tests.
    """

    def __init__(
        self,
        sessions: Sessions,
        recorder: Recorder,
        panel: PhasePanel,
        copies: JudgedCopies,
        judge: Judge,
        held_out: HeldOutPanels | None = None,
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._panel = panel
        self._copies = copies
        self._judge = judge
        self._held_out = held_out

    async def __call__(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Judge attempt `number` of the run's current phase and record the outcome."""
        run = recorded.run
        attempt = next(each for each in recorded.attempts if each.number == number)
        # The file at the base commit decides, in every phase and in every worker,
        # because no attempt changes it.
        content = await self._copies.file_at(run.id, run.base_commit, PROJECT_FILE, MAX_BYTES + 1)
        panel = self._panel.for_project(content)
        if self._held_out is not None:
            panel = await self._held_out.panel_for(recorded, panel)
        case = _Case(recorded, attempt, panel, fence)
        with logfire.span("evaluate {phase} attempt {number}", phase=attempt.phase, number=number):
            await self._begin(case)
            try:
                judged = await self._judge_candidates(case)
            except (WorkspaceError, OSError) as error:
                if is_outage(error):
                    raise
                await self._give_up(
                    case, NoVerdict(f"The workspace for the evaluation cannot be created: {error}")
                )
                return
            chosen, why = await self._choose(case, judged)
            if chosen.verdict.status is VerdictStatus.ERRORED:
                verdict = chosen.verdict
                outage = outage_of(chosen.results, verdict.errored_gates)
                trouble = NoVerdict(verdict.reason, verdict.errored_gates, judged, [chosen], outage)
                await self._give_up(case, trouble)
            else:
                await self._conclude(case, judged, chosen, why)

    async def _begin(self, case: _Case) -> None:
        phase, claim = case.attempt.phase, case.attempt.claim
        names = [each.name for each in case.panel.get_evaluator_registry().get_evaluators(phase)]
        async with self._recorder.open_claimed(case.run.id, case.fence, claim) as (recording, row):
            if row.status == AttemptState.EVALUATING:
                row.lost_workers += 1
            row.status = AttemptState.EVALUATING
            end_wait(recording)
            recording.tell(EvaluationStartedData(evaluators=names), phase, row.number)

    async def _judge_candidates(self, case: _Case) -> list[JudgedCandidate]:
        recorded, attempt = case.recorded, case.attempt
        async with self._sessions() as session:
            statement = select(Candidate).where(Candidate.attempt_id == attempt.id).order_by(Candidate.index)
            candidates = [each for each in await session.scalars(statement) if each.head_commit]
            feedback = await load_latest_feedback(session, recorded)
            acceptances = await load_acceptances(session, recorded)
            baseline = await load_baseline(session, case.run.id)
            too_slow = await load_too_slow(session, case.run.id)
            known_failures = await load_known_failures(session, case.run)
        context: EvaluationContext = {
            "goal": case.run.goal,
            "attempt": attempt.number,
            "run_id": case.run.id,
            "previous_feedback": feedback,
            "open_paths": list(recorded.policy.open_paths),
            "goal_tests": list(recorded.policy.goal_tests),
            "known_failures": known_failures,
        }
        if baseline is not None:
            context["baseline"] = baseline
        if recorded.policy.protected is not None:
            context["protected_policy"] = recorded.policy.protected
        if recorded.policy.base_failures is not None:
            context["base_failures"] = recorded.policy.base_failures
        material = _Material(context, acceptances, too_slow)
        return [await self._judge_one(case, material, each) for each in candidates]

    async def _judge_one(self, case: _Case, material: _Material, candidate: Candidate) -> JudgedCandidate:
        policy, phase = case.recorded.policy, case.attempt.phase
        labels = replace(current_labels(), candidate=candidate.index)
        async with self._copies.judged(case.run.id, _commit(candidate), case.run.base_commit) as trees:
            context: EvaluationContext = {
                **material.context,
                "workspace_ref": str(trees.candidate),
                "base_ref": str(trees.base),
            }
            with labelled(labels):
                results = await case.panel.evaluate_phase_output(
                    phase,
                    candidate.output,
                    context,
                    policy.deterministic_only,
                    on_result=partial(self._publish, case),
                    acceptances=material.acceptances,
                    too_slow=material.too_slow,
                )
        verdict = case.panel.judge(phase, results, policy, material.acceptances)
        return JudgedCandidate(candidate, results, verdict)

    async def _publish(self, case: _Case, result: EvaluationResult) -> None:
        attempt, run_id = case.attempt, case.run.id
        at = place_in(run_id, attempt.phase, attempt.number).model_copy(update={"trace_id": result.trace_id})
        event = EvaluatorCompletedEvent(**dict(at), data=evaluation_data(case.panel, attempt.phase, result))
        await through_outages(partial(self._recorder.progress, run_id, case.fence, Batch([event])))

    async def _choose(self, case: _Case, judged: list[JudgedCandidate]) -> tuple[JudgedCandidate, str]:
        """Return the candidate that the gates rank first and the reason; the judge decides between equals."""
        run, attempt = case.run, case.attempt
        alike = leaders(judged)
        if len(alike) == 1:
            started = len(AgentSpec.model_validate(run.agent).each())
            return alike[0], reason_of_gates(judged, alike[0], started)
        indexes = [each.candidate.index for each in alike]
        async with self._recorder.open_claimed(run.id, case.fence, attempt.claim) as (recording, _):
            recording.tell(JudgeStartedData(candidates=indexes), attempt.phase, attempt.number)
        choice = await self._judge.choose(
            run.goal, [await self._contender(run, each.candidate) for each in alike]
        )
        async with self._recorder.open_claimed(run.id, case.fence, attempt.claim) as (recording, row):
            await charge(recording, row, ModelRole.JUDGE, total_usage([choice]))
            recording.tell(judge_decided(choice), attempt.phase, attempt.number)
        chosen = next(each for each in alike if each.candidate.index == choice.index)
        return chosen, reason_of_judge(alike, choice)

    async def _contender(self, run: Run, candidate: Candidate) -> _Contender:
        async with self._copies.judged(run.id, _commit(candidate), run.base_commit) as trees:
            diff = await asyncio.to_thread(_diff, trees)
        return _Contender(candidate.index, candidate.output, candidate.changed_files, diff)

    async def _give_up(self, case: _Case, trouble: NoVerdict) -> None:
        async def write(recording: Recording, row: Attempt) -> None:
            await record_no_verdict(recording, row, case.panel, trouble, case.recorded.policy)

        await self._recorder.outcome(
            case.run.id, case.fence, case.attempt.claim, AttemptState.EVALUATING, write
        )

    async def _conclude(
        self, case: _Case, judged: list[JudgedCandidate], chosen: JudgedCandidate, why: str
    ) -> None:
        async def write(recording: Recording, row: Attempt) -> None:
            row.choice_reason = why
            await record_verdict(recording, row, case.panel, judged, chosen)

        await self._recorder.outcome(
            case.run.id, case.fence, case.attempt.claim, AttemptState.EVALUATING, write
        )


def _diff(trees: JudgedPair) -> str:
    return digest(trees.candidate, trees.base).shown().text


def _commit(candidate: Candidate) -> str:
    commit = candidate.head_commit
    assert commit is not None  # noqa: S101 - only candidates with a commit are judged
    return commit
