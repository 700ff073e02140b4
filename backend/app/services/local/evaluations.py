"""Evaluates a local workspace without an agent, server or database."""

import math
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from app.core.errors import BusyError, InvalidInputError, WorkspaceError
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, EvaluationStatus
from app.runners.evaluators.registrations import EvaluatorDescription
from app.runners.phase_panel import PhasePanel
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport, JudgedEvaluation
from app.schemas.baseline import Baseline, BaselineSummary
from app.schemas.held_out import HeldOutAtBase
from app.schemas.project_file import PROJECT_FILE
from app.schemas.runs import HeldOutFeedback, RunPolicy
from app.schemas.workspaces import LocalSource
from app.services.control.held_out_reading import JUDGED_PHASES, MakeGate, read_held_out
from app.services.local.gate_candidates import hint_for
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.origin import origin_of, write_origin
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.asked_parts import asked_in
from app.workspaces.sources.copying import copy_working_tree, top_of_repository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.line_ends import write_line_ends
from app.workspaces.together import together

if TYPE_CHECKING:
    from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator


def make_held_out_gate(files: Mapping[str, str], told: HeldOutFeedback) -> "HeldOutEvaluator":
    """Make the gate of held-out tests with default settings."""
    # The code that runs tests is slow to import, and most evaluations have no held-out tests.
    from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator  # noqa: PLC0415 - only to run tests

    return HeldOutEvaluator(files=files, told=told)


class EvaluationService:
    """Judges workspaces as a sprint would.

    Args:
        panel: the evaluators, without those that judge an agent's messages.
        policy: the thresholds.
        git: the git program.
        sources: which directories may be judged.
        limits: bounds on a workspace.
        described: every evaluator of sprints.
        at_once: how many judgements may run at the same time; None sets no bound.
        held_out: makes the gate of held-out tests.
        ready: finds out in advance how programs are confined here.
    """

    def __init__(  # noqa: PLR0913 - five parts, and options by name
        self,
        panel: PhasePanel,
        policy: RunPolicy,
        git: Git,
        sources: SourcePolicy,
        limits: WorkspaceLimits,
        described: list[EvaluatorDescription],
        at_once: int | None = None,
        held_out: MakeGate = make_held_out_gate,
        ready: Callable[[], Coroutine[Any, Any, object]] = anyio.lowlevel.checkpoint,
    ) -> None:
        self._ready = ready
        self._panel = panel
        self._policy = policy
        self._git = git
        self._sources = sources
        self._limits = limits
        self._described = described
        self._held_out = held_out
        self._slots = anyio.CapacityLimiter(math.inf if at_once is None else at_once)

    def evaluators(self) -> list[EvaluatorDescription]:
        """Return every evaluator of sprints."""
        return self._described

    async def judge(self, request: EvaluateRequest) -> EvaluationReport:
        """Judge a copy of a directory in its present state; the directory itself is not written to.

        Raises:
            InvalidInputError, WorkspaceError: the path or the base cannot be used.
            BusyError: the allowed number of judgements is already running.
        """
        try:
            self._slots.acquire_on_behalf_of_nowait(slot := object())
        except anyio.WouldBlock as error:
            count = self._slots.borrowed_tokens
            raise BusyError(f"{count} evaluations are running; try again later") from error
        try:
            return await self._judge(request)
        finally:
            self._slots.release_on_behalf_of(slot)

    async def _judge(self, request: EvaluateRequest) -> EvaluationReport:
        if request.baseline and request.base is None:
            raise InvalidInputError("needs `base`: its tests are run", field="baseline")
        path = await anyio.to_thread.run_sync(self._check_path, request.path)
        place = Path(await anyio.mkdtemp(prefix="phaserunner-evaluate-"))
        try:
            # The first gate needs what `ready` finds out.
            judged, _ = await together(self._judge_copy(request, path, place), self._ready())
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)
        panel, results = judged.panel, judged.results
        verdict = panel.judge(request.phase, results, self._policy)
        registry = panel.get_evaluator_registry()
        gates, observed = registry.gates(request.phase), registry.observed(request.phase)
        return EvaluationReport(
            phase=request.phase,
            verdict=verdict.status.value,
            score=verdict.score if _has_evidence(results, gates) else None,
            reason=_sentences(verdict.reason, judged.hint),
            questions=list(verdict.questions),
            base_commit=judged.base.commit,
            project_file=_told(panel, judged.base.commit),
            held_out=judged.held_out,
            baseline=judged.baseline,
            evaluations=[
                JudgedEvaluation(
                    gate=each.evaluator_name in gates,
                    observed=each.evaluator_name in observed,
                    result=each.model_dump(mode="json"),
                )
                for each in results
            ],
        )

    async def _judge_copy(self, request: EvaluateRequest, path: Path, place: Path) -> "_Judged":
        base = await self._base(path, request.base, place)
        gate = await self._gate(request, base, place)
        candidate = place / "candidate"
        asked = await anyio.to_thread.run_sync(asked_in, place / "base" if base.tree else path)
        await copy_working_tree(path, candidate, self._git, self._limits, submodules=asked.submodules)
        context: EvaluationContext = {
            "workspace_ref": str(candidate),
            "base_ref": str(base.tree) if base.tree else None,
            "goal": request.goal,
            "attempt": 1,
            "previous_feedback": [],
        }
        # Without a base, the project file of the directory itself is the only one.
        panel = await self._panel.for_tree(base.tree or candidate)
        at_base: HeldOutAtBase | None = None
        if gate is not None and base.tree is not None:
            panel = panel.with_gate(gate, JUDGED_PHASES)
            at_base = await gate.at_base(base.tree)
        baseline = await _baseline(request, panel, base)
        if baseline is not None:
            context["baseline"] = baseline
        results = await panel.evaluate_phase_output(
            request.phase, request.output, context, request.deterministic_only
        )
        summary = BaselineSummary.of(baseline) if baseline else None
        tree = base.tree or candidate
        hint = await anyio.to_thread.run_sync(hint_for, tree) if _is_unconfigured(panel) else ""
        return _Judged(base, panel, results, at_base, summary, hint)

    async def _gate(self, request: EvaluateRequest, base: "_Base", place: Path) -> "HeldOutEvaluator | None":
        if request.held_out is None:
            return None
        if base.tree is None or base.commit is None:
            raise InvalidInputError("needs `base`: the tests are laid over what it has", field="held_out")
        if request.phase.value not in JUDGED_PHASES:
            raise InvalidInputError(f"is not run in the phase {request.phase}", field="held_out")
        repository = RunRepository(self._git, place / "repo.git", self._limits)
        files = await read_held_out(request.held_out, repository, base.commit, base.prefix)
        return self._held_out(files, HeldOutFeedback.MESSAGES)

    def _check_path(self, given: str) -> Path:
        path = Path(given)
        if not path.is_absolute():
            raise InvalidInputError(f"{given} is not an absolute path", field="path")
        roots = [root.resolve() for root in self._sources.allowed_roots]
        try:
            resolved = path.resolve()
            is_directory = resolved.is_dir()
        except (OSError, RuntimeError) as error:  # the name is too long, or links form a loop
            raise InvalidInputError(f"{given} cannot be reached", field="path") from error
        # Checked first, because errors must not describe other directories.
        if roots and not any(resolved.is_relative_to(root) for root in roots):
            raise InvalidInputError(f"{given} is outside the allowed directories", field="path")
        if not is_directory:
            lack = "is not a directory" if resolved.exists() else "does not exist"
            raise InvalidInputError(f"{given} {lack}", field="path")
        return resolved

    async def _base(self, path: Path, ref: str | None, place: Path) -> "_Base":
        if ref is None:
            return _Base()
        repository = RunRepository(self._git, place / "repo.git", self._limits)
        source = LocalSource(path=str(path), ref=ref)
        try:
            commit, found = await together(
                import_source(source, repository, self._sources), top_of_repository(path, self._git)
            )
        except (InvalidInputError, WorkspaceError) as error:
            field = "base" if error.field == "source.ref" else "path"
            raise type(error)(error.detail, field=field) from error
        await repository.checkout_base(commit, place / "base")
        await write_line_ends(place / "base", self._git)
        # A directory inside a repository is compared with the same directory of the base.
        top = found or path
        base = place / "base" / path.relative_to(top)
        await anyio.Path(base).mkdir(parents=True, exist_ok=True)  # the directory may not exist in the base
        if base != place / "base":
            origin = await anyio.to_thread.run_sync(origin_of, place / "base")
            await anyio.to_thread.run_sync(write_origin, base, origin)
        return _Base(base, commit, path.relative_to(top).as_posix())


@dataclass(frozen=True, slots=True)
class _Base:
    """What a directory is compared with: a tree, its commit, and the directory's path in the repository."""

    tree: Path | None = None
    commit: str | None = None
    prefix: str = "."


@dataclass(frozen=True, slots=True)
class _Judged:
    """The results of an evaluation, and what was evaluated."""

    base: _Base
    panel: PhasePanel
    results: list[EvaluationResult]
    held_out: HeldOutAtBase | None
    baseline: BaselineSummary | None
    hint: str


async def _baseline(request: EvaluateRequest, panel: PhasePanel, base: _Base) -> Baseline | None:
    """Measure what the base's tests do; None if the request does not ask or the panel runs no tests."""
    if not request.baseline or base.tree is None:
        return None
    from app.runners.evaluators.testing.baselines import baseline_at, comparing_gate  # noqa: PLC0415 - only to run tests

    gate = comparing_gate(panel.get_evaluator_registry(), [request.phase])
    found = await baseline_at(gate, base.tree) if gate else None
    return found.baseline if found else None


def _sentences(reason: str, hint: str) -> str:
    if not hint:
        return reason
    return f"{reason}{'' if reason.endswith(('.', '?', '!')) else '.'} {hint}"


def _is_unconfigured(panel: PhasePanel) -> bool:
    return panel.project is not None and panel.project.content is None and not panel.project.problems


def _told(panel: PhasePanel, commit: str | None) -> str | None:
    project = panel.project
    if project is None or _is_unconfigured(panel):
        return None
    return (
        f"{PROJECT_FILE} at {commit[:12]}"
        if commit
        else f"{PROJECT_FILE} from the directory, because no base is given"
    )


def _has_evidence(results: Iterable[EvaluationResult], gates: Collection[str]) -> bool:
    checked = (EvaluationStatus.PASSED, EvaluationStatus.FAILED)
    return any(each.evaluator_name in gates and each.status in checked for each in results)
