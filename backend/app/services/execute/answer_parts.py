"""Provides the parts of an answer: models or a script, and passages of the workspace as evidence."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from app.db.models import Run
from app.runners.answer.evidence import WorkspaceEvidence
from app.runners.answer.scripted import ScriptedResponseEvaluator, ScriptedSynthesizer
from app.runners.answer.steps import ResponseEvaluator, Synthesizer
from app.runners.answer.synthesizer import SynthesizerAgent
from app.runners.evaluators.response_evaluator import EvaluatorAgent
from app.schemas.agents import AgentSpec
from app.services.execute.candidates import AttemptTrees
from app.services.execute.role_models import RoleModels


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """The parts that work on one answer; `evidence` is None for an answer without a workspace."""

    synthesizer: Synthesizer
    evaluator: ResponseEvaluator
    evidence: WorkspaceEvidence | None


class AnswerEquipment(Protocol):
    """Provides the parts of answers."""

    def open(self, run: Run, *, evidence: bool) -> AbstractAsyncContextManager[AnswerParts]:
        """Lend the parts of one answer; the files that they need are removed afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerWorkshop:
    """Provides the parts of answers as the settings say.

    Attributes:
        models: the models of parts that are not scripted.
        trees: lays out the files of an answer's workspace.
    """

    models: RoleModels
    trees: AttemptTrees

    @asynccontextmanager
    async def open(self, run: Run, *, evidence: bool) -> AsyncGenerator[AnswerParts]:
        """Lend the parts of one answer.

        Args:
            run: the answer.
            evidence: whether the answer draws evidence from its workspace, which holds
                the files of its source.

        Raises:
            WorkspaceError, OSError: the workspace cannot be laid out.
        """
        spec = AgentSpec.model_validate(run.agent)
        retries = run.policy["max_attempts"] - 1
        if not evidence or run.source.get("kind") == "empty":
            yield self._parts(spec, retries, None)
            return
        async with self.trees.open(run.id, run.base_commit, 1) as trees:
            yield self._parts(spec, retries, await WorkspaceEvidence.of_workspace(trees[0]))

    def _parts(self, spec: AgentSpec, retries: int, evidence: WorkspaceEvidence | None) -> AnswerParts:
        if spec.script is not None:
            judge = ScriptedResponseEvaluator(spec.script, retries)
            return AnswerParts(ScriptedSynthesizer(spec.script), judge, evidence)
        models = self.models
        synthesizer = SynthesizerAgent(
            model=spec.model or models.author,
            fallback_model=models.fallback,
            timeout=models.timeout,
            output_mode=models.output_mode,
            build=models.build,
        )
        evaluator = EvaluatorAgent(
            model=models.evaluator,
            fallback_model=models.fallback,
            timeout=models.judge_timeout,
            max_retries=retries,
            output_mode=models.output_mode,
            build=models.build,
        )
        return AnswerParts(synthesizer, evaluator, evidence)
