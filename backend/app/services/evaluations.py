"""Judges a local workspace without any agent, server or database."""

import tempfile
from pathlib import Path
from uuid import uuid4

import anyio

from app.core.errors import InvalidInputError, WorkspaceError
from app.runners.evaluators.protocol import EvaluationContext
from app.runners.evaluators.registry import EvaluatorDescription
from app.runners.phase_runner import PhaseRunner
from app.schemas.runs import RunPolicy
from app.schemas.sprints import EvaluateRequest, EvaluationReport, JudgedEvaluation
from app.schemas.workspaces import LocalSource
from app.workspaces.copying import copy_working_tree, top_of_repository
from app.workspaces.git import Git
from app.workspaces.importing import import_source
from app.workspaces.limits import WorkspaceLimits
from app.workspaces.repository import RunRepository
from app.workspaces.sources import SourcePolicy


class EvaluationService:
    """Judges workspaces as a sprint would.

    Args:
        runner: knows the evaluators; those that judge an agent's words are not among them.
        policy: thresholds.
        git: the git program.
        sources: which directories may be judged.
        limits: bounds on a workspace.
        described: every evaluator that sprints are judged by.
    """

    def __init__(
        self,
        runner: PhaseRunner,
        policy: RunPolicy,
        git: Git,
        sources: SourcePolicy,
        limits: WorkspaceLimits,
        described: list[EvaluatorDescription],
    ) -> None:
        self._runner = runner
        self._policy = policy
        self._git = git
        self._sources = sources
        self._limits = limits
        self._described = described

    def evaluators(self) -> list[EvaluatorDescription]:
        """Every evaluator that sprints are judged by."""
        return self._described

    async def judge(self, request: EvaluateRequest) -> EvaluationReport:
        """Judge a copy of a directory, as it is on the disk now; nothing is written to it.

        Raises:
            InvalidInputError, WorkspaceError: the path or the base cannot be used.
        """
        path = await self._check_path(request.path)
        with tempfile.TemporaryDirectory(prefix="phaserunner-evaluate-") as scratch:
            place = Path(scratch)
            candidate = place / "candidate"
            await copy_working_tree(path, candidate, self._git, self._limits)
            base, commit = await self._base(path, request.base, place)
            context: EvaluationContext = {
                "workspace_ref": str(candidate),
                "base_ref": str(base) if base else None,
                "goal": request.goal,
                "attempt": 1,
                "previous_feedback": [],
                "run_id": uuid4(),
            }
            results = await self._runner.evaluate_phase_output(
                request.phase, request.output, context, request.deterministic_only
            )
        verdict = self._runner.judge(request.phase, results, self._policy)
        gates = self._runner.get_evaluator_registry().gates(request.phase)
        return EvaluationReport(
            phase=request.phase,
            verdict=verdict.status.value,
            score=verdict.score,
            reason=verdict.reason,
            base_commit=commit,
            evaluations=[
                JudgedEvaluation(gate=each.evaluator_name in gates, result=each.model_dump(mode="json"))
                for each in results
            ],
        )

    async def _check_path(self, given: str) -> Path:
        path = anyio.Path(given)
        if not path.is_absolute():
            raise InvalidInputError(f"{given} is not absolute", field="path")
        if not await path.exists():
            raise InvalidInputError(f"{given} does not exist", field="path")
        if not await path.is_dir():
            raise InvalidInputError(f"{given} is not a directory", field="path")
        resolved = Path(await path.resolve())
        roots = [root.resolve() for root in self._sources.allowed_roots]
        if roots and not any(resolved.is_relative_to(root) for root in roots):
            raise InvalidInputError(f"{given} is outside the allowed directories", field="path")
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
        await repository.checkout(commit, place / "base")
        # A directory inside a repository is judged against the same directory of the base.
        top = await top_of_repository(path, self._git) or path
        return place / "base" / path.relative_to(top), commit
