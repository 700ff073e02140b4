"""What programs import that run phases, loops and answers in their own process, without the service.

Nothing is recorded. Where a recorded run would wait for a person, these return the reason instead.
"""

from app.runners.answer.steps import (
    AnswerOutcome,
    AnswerStatus,
    EvidenceSource,
    ResponseEvaluator,
    Synthesizer,
)
from app.runners.director_evaluator import DirectorEvaluator, LoopLimits
from app.runners.evaluators.deterministic import PytestEvaluator, RuffLintEvaluator, TypeCheckEvaluator
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.loop.roles import LoopRole, RoleTask
from app.runners.phase_runner import PhaseOutcome, PhaseRunner
from app.runners.response_retry import ResponseRetry
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import LoopResult, TaskResult
from app.schemas.runs import EscalationReason, Phase, RunPolicy

__all__ = [
    "AnswerOutcome",
    "AnswerStatus",
    "DirectorEvaluator",
    "DirectorEvaluatorLoop",
    "EscalationReason",
    "EvaluatorRegistry",
    "EvidenceSource",
    "FeedbackMemory",
    "LoopLimits",
    "LoopResult",
    "LoopRole",
    "Phase",
    "PhaseOutcome",
    "PhaseRunner",
    "PytestEvaluator",
    "ResponseEvaluator",
    "ResponseRetry",
    "RoleTask",
    "RuffLintEvaluator",
    "RunPolicy",
    "Synthesizer",
    "TaskResult",
    "TypeCheckEvaluator",
]
