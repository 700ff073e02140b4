"""Provides the parts of a loop: agents with a model or a script, the sandbox, and the workspace."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

from app.db.models import Run
from app.runners.evaluators.project.project_file import MAX_BYTES
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.loop.agents import ModelDirector, ModelEvaluatorRole
from app.runners.loop.files import WorkspaceContext
from app.runners.loop.panel import EvaluatorOrPanel, PanelJudge
from app.runners.loop.roles import LoopParts, LoopRole, Script
from app.runners.loop.script import SandboxedScript
from app.runners.loop.scripted import ScriptedRoleAgent
from app.runners.project import ProjectRules, panel_for
from app.schemas.agent_script import ScriptedRole
from app.schemas.agents import AgentSpec
from app.schemas.project_file import PROJECT_FILE
from app.services.execute.candidates import AttemptTrees
from app.services.execute.role_models import RoleModels
from app.workspaces.confine.sandbox import Sandbox


class LoopTrees(AttemptTrees, Protocol):
    """Provides the files of a run's commits."""

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        """Return the first `limit` bytes of a file in a commit, or None if the commit lacks it."""
        ...


class Workshop(Protocol):
    """Provides the parts of loops."""

    def open(self, run: Run) -> AbstractAsyncContextManager[LoopParts]:
        """Lend the parts of one loop; the files that they need are removed afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class LoopWorkshop:
    """Provides the parts of loops as the settings say.

    Attributes:
        models: the models of roles that are not scripted.
        sandbox: the sandbox in which scripts run.
        trees: provides the files of a loop's workspace.
        registry: evaluators that a definition may name, beside those of the workspace's project file.
        rules: the rules for reading that file.
    """

    models: RoleModels
    sandbox: Sandbox
    trees: LoopTrees
    registry: EvaluatorRegistry
    rules: ProjectRules

    @asynccontextmanager
    async def open(self, run: Run) -> AsyncGenerator[LoopParts]:
        """Lend the parts of one loop; its workspace holds the files of its source.

        Raises:
            WorkspaceError, OSError: the workspace cannot be laid out.
        """
        spec = AgentSpec.model_validate(run.agent)
        if run.source.get("kind") == "empty":
            yield self._parts(spec, None, None)
            return
        content = await self.trees.file_at(run.id, run.base_commit, PROJECT_FILE, MAX_BYTES + 1)
        async with self.trees.open(run.id, run.base_commit, 1) as trees:
            yield self._parts(spec, trees[0], content)

    def _parts(self, spec: AgentSpec, workspace: Path | None, content: bytes | None) -> LoopParts:
        director, agent = self._roles(spec, workspace)
        panel = PanelJudge(panel=panel_for(self.registry, content, self.rules), workspace=workspace)
        evaluator = EvaluatorOrPanel(agent, panel)
        script: Script = SandboxedScript(sandbox=self.sandbox, workspace=workspace)
        files = WorkspaceContext(workspace=workspace) if workspace else None
        return LoopParts(director=director, evaluator=evaluator, script=script, files=files)

    def _roles(self, spec: AgentSpec, workspace: Path | None) -> tuple[LoopRole, LoopRole]:
        if spec.script is not None:
            script = spec.script
            return (
                ScriptedRoleAgent(script, ScriptedRole.DIRECTOR),
                ScriptedRoleAgent(script, ScriptedRole.EVALUATOR),
            )
        models = self.models
        director = ModelDirector(
            model=spec.model or models.author,
            fallback_model=models.fallback,
            timeout=models.timeout,
            output_mode=models.output_mode,
            build=models.build,
            workspace=workspace,
        )
        evaluator = ModelEvaluatorRole(
            model=models.evaluator,
            fallback_model=models.fallback,
            timeout=models.timeout,
            output_mode=models.output_mode,
            build=models.build,
            workspace=workspace,
        )
        return director, evaluator
