"""Evaluates results again on the present head of their target: merged afresh, without an agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert

from app.core.errors import ConflictError
from app.db.engine import Sessions
from app.db.models import ResultCheck, Run
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.testing.baselines import baseline_at, comparing_gate
from app.runners.evaluators.verdict import PanelVerdict, VerdictStatus
from app.runners.phase_panel import PhasePanel
from app.schemas.api.result_checks import ResultCheckView
from app.schemas.runs import Phase, RunPolicy
from app.services.read.runs import find_run
from app.services.record.history import load_acceptances, load_run
from app.services.record.known_failures import load_known_failures
from app.services.review.merging import MergeService
from app.services.review.results import Result, ResultService
from app.workspaces.files.removal import remove_tree
from app.workspaces.sources.earlier import EarlierResult
from app.workspaces.sources.merging import MergeOutcome

_JUDGED = (Phase.VERIFICATION, Phase.CODING)


@dataclass(frozen=True, slots=True)
class Judged:
    """Files that were judged without an agent.

    Attributes:
        verdict: what the gates say together.
        results: what each evaluator says.
        gates: names of those that decide.
    """

    verdict: PanelVerdict
    results: Sequence[EvaluationResult]
    gates: frozenset[str]


class RecheckService:
    """Judges results again.

    Args:
        sessions: opens short transactions; none is open while a result is judged.
        results: finds results.
        merges: merges them into their sources.
        panel: the operator's evaluators, without those that judge an agent's messages.
    """

    def __init__(
        self, sessions: Sessions, results: ResultService, merges: MergeService, panel: PhasePanel
    ) -> None:
        self._sessions = sessions
        self._results = results
        self._merges = merges
        self._panel = panel

    async def last(self, run_id: UUID) -> ResultCheckView | None:
        """Return the newest check of a run's result; None before the first check.

        Raises:
            NotFoundError: there is no such run.
        """
        async with self._sessions() as session:
            await find_run(session, run_id)
            row = await session.get(ResultCheck, run_id)
        return None if row is None else _view(row)

    async def recheck(
        self, run_id: UUID, branch: str | None = None, after: Sequence[EarlierResult] = ()
    ) -> ResultCheckView:
        """Merge a result into the present head of a branch, and judge the merged files against that head.

        With `after`, results of other runs are merged into that head first. If all these commits are those of
        the newest check, that check is returned.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the gates have not passed the result, or its source has no branch.
            InvalidInputError, WorkspaceError: the branch or the source cannot be used.
        """
        result = await self._results.result(run_id)
        if not result.is_final:
            raise ConflictError("the gates have not passed this output; there is nothing to judge again")
        place = Path(await anyio.mkdtemp(prefix="phaserunner-recheck-"))
        try:
            async with self._merges.merging(run_id, branch, after) as merge:
                outcome = merge.outcome
                known = await self._known(run_id, result, outcome)
                if known is not None:
                    return known
                trees = await merge.check_out(place) if outcome.state == "clean" else None
            verdict = (await self.judge(run_id, *trees)).verdict if trees else None
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)
        return await self._record(run_id, result, outcome, verdict)

    async def _known(self, run_id: UUID, result: Result, outcome: MergeOutcome) -> ResultCheckView | None:
        async with self._sessions() as session:
            row = await session.get(ResultCheck, run_id)
        now = (result.commit, outcome.branch, outcome.commit, list(outcome.after))
        same = row is not None and (row.result_commit, row.branch, row.commit, row.after) == now
        # An errored verdict says nothing about the result, so the result is judged again.
        return _view(row) if same and row is not None and row.verdict != "errored" else None

    async def judge(self, run_id: UUID, base: Path, candidate: Path, opened: Sequence[str] = ()) -> Judged:
        """Judge files as the gates of a run judge its result, without models.

        Args:
            run_id: its phases, limits and accepted findings count.
            base: files to compare with.
            candidate: files to judge.
            opened: patterns of protected files that may change as well.

        Raises:
            sqlalchemy.exc.NoResultFound: there is no such run.
        """
        async with self._sessions() as session:
            run = await session.get_one(Run, run_id)
            acceptances = await load_acceptances(session, await load_run(session, run_id))
            known_failures = await load_known_failures(session, run)
        phase = next((each for each in _JUDGED if each in run.phases), Phase(run.phases[-1]))
        panel = await self._panel.for_tree(base)
        policy = RunPolicy.model_validate(run.policy)
        context = _context(run, policy, base, candidate)
        context["open_paths"] = [*policy.open_paths, *opened]
        context["known_failures"] = known_failures
        gate = comparing_gate(panel.get_evaluator_registry(), [phase])
        measured = await baseline_at(gate, base) if gate else None
        if measured is not None:
            context["baseline"] = measured.baseline
        # Models have already judged the result; after the merge only the tools must still agree.
        results = await panel.evaluate_phase_output(
            phase, "", context, deterministic_only=True, acceptances=acceptances
        )
        verdict = panel.judge(phase, results, policy, acceptances)
        return Judged(verdict, results, frozenset(panel.get_evaluator_registry().gates(phase)))

    async def _record(
        self, run_id: UUID, result: Result, outcome: MergeOutcome, verdict: PanelVerdict | None
    ) -> ResultCheckView:
        values: dict[str, Any] = {
            "result_commit": result.commit,
            "branch": outcome.branch,
            "commit": outcome.commit,
            "state": outcome.state,
            "conflicts": list(outcome.conflicts),
            "after": list(outcome.after),
            "verdict": _stored(verdict) if verdict else None,
            "reason": verdict.reason if verdict else "",
            "checked_at": func.now(),
        }
        statement = (
            insert(ResultCheck)
            .values(run_id=run_id, **values)
            .on_conflict_do_update(index_elements=[ResultCheck.run_id], set_=values)
            .returning(ResultCheck)
        )
        async with self._sessions.begin() as session:
            return _view((await session.scalars(statement)).one())


def _context(run: Run, policy: RunPolicy, base: Path, candidate: Path) -> EvaluationContext:
    context: EvaluationContext = {
        "goal": run.goal,
        "attempt": 1,
        "run_id": run.id,
        "previous_feedback": [],
        "goal_tests": list(policy.goal_tests),
        "workspace_ref": str(candidate),
        "base_ref": str(base),
    }
    if policy.protected is not None:
        context["protected_policy"] = policy.protected
    if policy.base_failures is not None:
        context["base_failures"] = policy.base_failures
    return context


def _stored(verdict: PanelVerdict) -> str:
    """Return a verdict's word. No person answers questions here, so they are failures."""
    return (VerdictStatus.FAILED if verdict.status is VerdictStatus.ASKS else verdict.status).value


def _view(row: ResultCheck) -> ResultCheckView:
    return ResultCheckView.model_validate(row, from_attributes=True)
