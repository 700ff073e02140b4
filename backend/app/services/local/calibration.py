"""Evaluates labelled cases with the panel, each with the git history that it would have in a sprint."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

import anyio
import anyio.to_thread

from app.core.errors import InvalidInputError, PhaseRunnerError
from app.corpora.format import CorpusCase, write_files
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.verdict import PanelVerdict, VerdictStatus
from app.runners.phase_panel import PhasePanel
from app.runners.project import ProjectRules
from app.schemas.calibration import CalibrationReport, CaseOutcome, Said
from app.schemas.runs import RunPolicy
from app.services.measure.scorecard import report
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.git import Git
from app.workspaces.store import WorkspaceStore

OnOutcome = Callable[[CaseOutcome], None]
"""Called with each case when it is judged, in the order in which judging ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The evaluators of a calibration.

    Attributes:
        evaluators: names of the only evaluators to use, each as a gate; empty uses all, as in a sprint.
        models: whether evaluators that ask a model take part when they are not named.
        workers: how many cases are judged at the same time.
    """

    evaluators: Sequence[str] = ()
    models: bool = False
    workers: int = 2


class CalibrationService:
    """Measures evaluators on cases whose right verdict is known.

    Args:
        registry: the evaluators.
        policy: the thresholds.
        git: the git program.
        limits: bounds on a workspace.
        rules: how far a case's `phaserunner.toml` at its base chooses its evaluators.
        about_agent: names of the evaluators that judge an agent's message or plan; they skip
            cases without a message.
    """

    def __init__(
        self,
        registry: EvaluatorRegistry,
        policy: RunPolicy,
        git: Git,
        limits: WorkspaceLimits,
        rules: ProjectRules,
        about_agent: Collection[str] = (),
    ) -> None:
        self._registry = registry
        self._policy = policy
        self._git = git
        self._limits = limits
        self._rules = rules
        self._about_agent = about_agent

    async def calibrate(
        self, corpus: str, cases: Sequence[CorpusCase], panel: Panel, on_outcome: OnOutcome | None = None
    ) -> CalibrationReport:
        """Judge every case and count the wrong verdicts.

        Raises:
            InvalidInputError: a named evaluator does not exist, or judges none of the phases.
        """
        judges, models = self._judges(panel, cases)
        started = time.monotonic()
        outcomes: list[CaseOutcome] = []
        place = Path(await anyio.mkdtemp(prefix="phaserunner-calibrate-"))
        silent = PhasePanel(judges.get_evaluator_registry().without(self._about_agent), self._rules)
        store = WorkspaceStore(place, self._git, self._limits)
        judge = _Judge(judges, silent, self._policy, store, panel.evaluators, models=models)

        async def work(rest: Iterator[CorpusCase]) -> None:
            for case in rest:
                outcome = await judge(case)
                outcomes.append(outcome)
                if on_outcome is not None:
                    on_outcome(outcome)

        try:
            rest = iter(cases)
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, panel.workers)):
                    group.create_task(work(rest))
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)
        return report(corpus, outcomes, time.monotonic() - started)

    def _judges(self, panel: Panel, cases: Sequence[CorpusCase]) -> tuple[PhasePanel, bool]:
        registry, models = self._registry, panel.models
        if panel.evaluators:
            registry = registry.only(panel.evaluators)
            known = {each.name for each in self._registry.describe()}
            for name in panel.evaluators:
                if name not in known:
                    raise InvalidInputError(f"there is no {name!r}; there are {', '.join(sorted(known))}")
            models = models or not all(each.deterministic for each in registry.describe())
        for phase in sorted({each.phase for each in cases}):
            if not registry.get_evaluators(phase):
                raise InvalidInputError(f"none of these evaluators judges the phase {phase.value}")
        return PhasePanel(self._registry, self._rules), models


class _Judge:
    """Judges cases."""

    def __init__(
        self,
        judges: PhasePanel,
        silent: PhasePanel,
        policy: RunPolicy,
        store: WorkspaceStore,
        only: Sequence[str],
        *,
        models: bool,
    ) -> None:
        self._speaking = judges
        self._silent = silent
        self._policy = policy
        self._store = store
        self._only = only
        self._models = models

    async def __call__(self, case: CorpusCase) -> CaseOutcome:
        """Judge a case; a case that cannot become a commit has no verdict."""
        started = time.monotonic()
        judges = self._speaking if case.output else self._silent
        results: list[EvaluationResult] = []
        try:
            judges, results = await self._results(case, judges)
            verdict = judges.judge(case.phase, results, self._policy)
            status, reason = verdict.status, _reason(verdict, results)
        except (PhaseRunnerError, OSError) as error:
            status, reason = VerdictStatus.ERRORED, f"The case cannot be judged: {error}"
        gates = judges.get_evaluator_registry().gates(case.phase)
        return CaseOutcome(
            name=case.name,
            label=case.label,
            area=case.area,
            about=case.about,
            residual=case.residual,
            verdict=status.value,
            reason=reason,
            seconds=time.monotonic() - started,
            said=[_said(each, gates) for each in results],
        )

    async def _results(
        self, case: CorpusCase, judges: PhasePanel
    ) -> tuple[PhasePanel, list[EvaluationResult]]:
        """Judge a case as the project file at its base says, and return the panel and its results."""
        run_id = uuid4()
        try:
            base, head = await self._commit(case, run_id)
            async with self._store.judged(run_id, head, base) as trees:
                context: EvaluationContext = {
                    "workspace_ref": str(trees.candidate),
                    "base_ref": str(trees.base),
                    "goal": case.goal,
                    "attempt": 1,
                    "previous_feedback": [],
                    "run_id": run_id,
                }
                chosen = (await judges.for_tree(trees.base)).limited_to(self._only)
                return chosen, await chosen.evaluate_phase_output(
                    case.phase, case.output, context, deterministic_only=not self._models
                )
        finally:
            with anyio.CancelScope(shield=True):
                await self._store.remove_run(run_id)

    async def _commit(self, case: CorpusCase, run_id: UUID) -> tuple[str, str]:
        """Return the commits of base and candidate, made in the same way as by an import and an attempt."""
        repository = self._store.repository(run_id)
        await repository.create()
        tree = self._store.tree(run_id, uuid4())
        await anyio.to_thread.run_sync(partial(write_files, case.base, tree))
        base = await repository.commit_tree(tree, None, "Base")
        await repository.close_history_at(base.commit)
        tree = self._store.tree(run_id, uuid4())
        await anyio.to_thread.run_sync(partial(write_files, case.candidate, tree))
        head = await repository.commit_tree(tree, base.commit, case.about)
        return base.commit, head.commit


def _reason(verdict: PanelVerdict, results: Sequence[EvaluationResult]) -> str:
    """Return the verdict's reason, with the feedback of failed gates instead of only their names."""
    if verdict.status is not VerdictStatus.FAILED:
        return verdict.reason
    words = [
        f"{each.evaluator_name}: {each.feedback}"
        for each in results
        if each.evaluator_name in verdict.failed_gates
    ]
    return "; ".join(words) or verdict.reason


def _said(result: EvaluationResult, gates: Sequence[str]) -> Said:
    return Said(
        evaluator=result.evaluator_name,
        version=result.evaluator_version,
        gate=result.evaluator_name in gates,
        status=result.status.value,
        feedback=result.feedback,
        duration_ms=result.duration_ms,
    )
