"""Registers the evaluators that ask a model. Separate, because they import the model library."""

from dataclasses import replace

from pydantic_ai.models import Model

from app.runners.evaluators.evaluator_config import CODING, DISCOVERY, VERIFICATION, EvaluatorConfig
from app.runners.evaluators.llm_evaluator import (
    CompletenessEvaluator,
    LLMCodeQualityEvaluator,
    ModelEvaluator,
    PerformanceEvaluator,
    SecurityEvaluator,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.response_evaluator import EvaluatorAgent
from app.runners.evaluators.response_quality import ResponseQualityEvaluator


def register_models(registry: EvaluatorRegistry, config: EvaluatorConfig, model: Model | str) -> None:
    """Register the evaluators that ask `model`. All but one need the model object instead of its name."""
    evaluators: list[tuple[ModelEvaluator, list[str]]] = [(LLMCodeQualityEvaluator(), [CODING, DISCOVERY])]
    if isinstance(model, Model):
        evaluators += [
            (CompletenessEvaluator(), [CODING, VERIFICATION]),
            (SecurityEvaluator(), [CODING]),
            (PerformanceEvaluator(), [CODING]),
        ]
    for evaluator, phases in evaluators:
        configured = replace(
            evaluator,
            model=model,
            fallback_model=config.fallback_model,
            timeout=config.llm_timeout,
            pass_threshold=config.pass_threshold,
            blocking_threshold=config.blocking_threshold,
            output_mode=config.output_mode,
            turns=config.turns,
        )
        registry.register(configured, phases, gate=False)
    if isinstance(model, Model):
        agent = EvaluatorAgent(
            model=model,
            fallback_model=config.fallback_model,
            timeout=config.llm_timeout,
            output_mode=config.output_mode,
            watch_entries=False,
        )
        registry.register(ResponseQualityEvaluator(agent=agent, turns=config.turns), [DISCOVERY], gate=False)
