"""Builds the code that carries out attempts, for each kind of run; part of the composition root."""

from collections.abc import Mapping

from app.composition.tools import Tools
from app.core.config import Settings
from app.db.engine import Sessions
from app.schemas.agents import AgentSpec
from app.schemas.runs import ModelRole, RunKind
from app.services.execute.advance import KindSteps
from app.services.execute.answer_parts import AnswerWorkshop
from app.services.execute.answers import AnswerRunning
from app.services.execute.loop_parts import LoopWorkshop
from app.services.execute.loops import LoopRunning
from app.services.execute.role_models import RoleModels
from app.services.execute.trees import RunTrees
from app.services.record.transactions import Recorder


def build_steps(
    settings: Settings,
    tools: Tools,
    sessions: Sessions,
    recorder: Recorder,
    trees: RunTrees,
    sprint: KindSteps,
) -> Mapping[RunKind, KindSteps]:
    """Return the steps of each kind of run; `sprint` are those of sprints."""
    models = _models(settings, tools)
    workshop = LoopWorkshop(models, tools.sandbox, trees, tools.registry, tools.rules)
    loops = LoopRunning(sessions, recorder, workshop)
    answers = AnswerRunning(sessions, recorder, AnswerWorkshop(models, trees))
    return {
        RunKind.SPRINT: sprint,
        RunKind.DIRECTOR_LOOP: KindSteps(loops.direct, loops.evaluate, ModelRole.DIRECTOR),
        RunKind.ANSWER: KindSteps(answers.write, answers.judge, ModelRole.ANSWER),
    }


def _models(settings: Settings, tools: Tools) -> RoleModels:
    return RoleModels(
        author=tools.agents.model_for(AgentSpec()),
        evaluator=settings.EVALUATOR_MODEL,
        fallback=settings.EVALUATOR_FALLBACK_MODEL,
        build=tools.build_model,
        timeout=settings.AGENT_TIMEOUT,
        judge_timeout=settings.EVALUATOR_LLM_TIMEOUT,
        output_mode=settings.EVALUATOR_OUTPUT_MODE,
    )
