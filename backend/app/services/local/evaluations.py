"""Judges a local workspace without any agent, server or database."""

import math
from collections.abc import Collection, Iterable
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.to_thread

from app.core.errors import BusyError, InvalidInputError, WorkspaceError
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, EvaluationStatus
from app.runners.evaluators.registrations import EvaluatorDescription
from app.runners.phase_panel import PhasePanel
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport, JudgedEvaluation
from app.schemas.project_file import PROJECT_FILE
from app.schemas.runs import RunPolicy
from app.schemas.workspaces import LocalSource
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.origin import origin_of, write_origin
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.copying import copy_working_tree, top_of_repository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy


class EvaluationService:
    """Judges workspaces as a sprint would.

    Args:
        panel: knows the evaluators; those that judge an agent's words are not among them.
        policy: thresholds.
        git: the git program.
        sources: which directories may be judged.
        limits: bounds on a workspace.
        described: every evaluator that sprints are judged by.
        at_once: how many judgements may run at the same time; None is unbounded.
    """

    def __init__(
        self,
        panel: PhasePanel,
        policy: RunPolicy,
        git: Git,
        sources: SourcePolicy,
        limits: WorkspaceLimits,
        described: list[EvaluatorDescription],
        at_once: int | None = None,
    ) -> None:
        self._panel = panel
        self._policy = policy
        self._git = git
        self._sources = sources
        self._limits = limits
        self._described = described
        self._slots = anyio.CapacityLimiter(math.inf if at_once is None else at_once)

    def evaluators(self) -> list[EvaluatorDescription]:
        """Every evaluator that sprints are judged by."""
        return self._described

    async def judge(self, request: EvaluateRequest) -> EvaluationReport:
        """Judge a copy of a directory, as it is on the disk now; nothing is written to it.

        Raises:
            InvalidInputError, WorkspaceError: the path or the base cannot be used.
            BusyError: as many judgements run as may at the same time.
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
        path = await anyio.to_thread.run_sync(self._check_path, request.path)
        place = Path(await anyio.mkdtemp(prefix="phaserunner-evaluate-"))
        try:
            commit, panel, results = await self._judge_copy(request, path, place)
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)
        verdict = panel.judge(request.phase, results, self._policy)
        gates = panel.get_evaluator_registry().gates(request.phase)
        return EvaluationReport(
            phase=request.phase,
            verdict=verdict.status.value,
            score=verdict.score if _has_evidence(results, gates) else None,
            reason=verdict.reason,
            questions=list(verdict.questions),
            base_commit=commit,
            project_file=_told(panel, commit),
            evaluations=[
                JudgedEvaluation(gate=each.evaluator_name in gates, result=each.model_dump(mode="json"))
                for each in results
            ],
        )

    async def _judge_copy(
        self, request: EvaluateRequest, path: Path, place: Path
    ) -> tuple[str | None, PhasePanel, list[EvaluationResult]]:
        base, commit = await self._base(path, request.base, place)
        candidate = place / "candidate"
        await copy_working_tree(path, candidate, self._git, self._limits)
        context: EvaluationContext = {
            "workspace_ref": str(candidate),
            "base_ref": str(base) if base else None,
            "goal": request.goal,
            "attempt": 1,
            "previous_feedback": [],
            "run_id": uuid4(),
        }
        # Without a base the directory's own file is the only one there is.
        panel = await self._panel.for_tree(base or candidate)
        results = await panel.evaluate_phase_output(
            request.phase, request.output, context, request.deterministic_only
        )
        return commit, panel, results

    def _check_path(self, given: str) -> Path:
        path = Path(given)
        if not path.is_absolute():
            raise InvalidInputError(f"{given} is not absolute", field="path")
        roots = [root.resolve() for root in self._sources.allowed_roots]
        try:
            resolved = path.resolve()
            is_directory = resolved.is_dir()
        except (OSError, RuntimeError) as error:  # a name too long; a loop of links
            raise InvalidInputError(f"{given} cannot be reached", field="path") from error
        # Asked first: errors must not describe other places.
        if roots and not any(resolved.is_relative_to(root) for root in roots):
            raise InvalidInputError(f"{given} is outside the allowed directories", field="path")
        if not is_directory:
            lack = "is not a directory" if resolved.exists() else "does not exist"
            raise InvalidInputError(f"{given} {lack}", field="path")
        return resolved

    async def _base(self, path: Path, ref: str | None, place: Path) -> tuple[Path | None, str | None]:
        if ref is None:
            return None, None
        repository = RunRepository(self._git, place / "repo.git", self._limits)
        source = LocalSource(path=str(path), ref=ref)
        try:
            commit = await import_source(source, repository, self._sources)
        except (InvalidInputError, WorkspaceError) as error:
            field = "base" if error.field == "source.ref" else "path"
            raise type(error)(error.detail, field=field) from error
        await repository.checkout_base(commit, place / "base")
        # A directory inside a repository is judged against the same directory of the base.
        top = await top_of_repository(path, self._git) or path
        base = place / "base" / path.relative_to(top)
        await anyio.Path(base).mkdir(parents=True, exist_ok=True)  # it may be new since
        if base != place / "base":
            origin = await anyio.to_thread.run_sync(origin_of, place / "base")
            await anyio.to_thread.run_sync(write_origin, base, origin)
        return base, commit


def _told(panel: PhasePanel, commit: str | None) -> str | None:
    project = panel.project
    if project is None or (project.content is None and not project.problems):
        return None
    return (
        f"{PROJECT_FILE} at {commit[:12]}" if commit else f"{PROJECT_FILE} as it lies there: no base is given"
    )


def _has_evidence(results: Iterable[EvaluationResult], gates: Collection[str]) -> bool:
    checked = (EvaluationStatus.PASSED, EvaluationStatus.FAILED)
    return any(each.evaluator_name in gates and each.status in checked for each in results)
