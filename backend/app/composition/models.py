"""Builds the models and the judge between candidates; part of the composition root."""

from pydantic_ai.models import Model

from app.agents.models.connected import ConnectedModel
from app.agents.models.factory import Answering, build_model
from app.agents.models.judge import FirstContender, Judge, ModelJudge
from app.agents.models.providers import ProviderKeys
from app.composition.providers import evaluator_models
from app.core.config import Settings
from app.gateway.ledger import Budgets, Ledger, NoLedger
from app.gateway.recorded_model import BuildModel, recorded


def model_builder(
    settings: Settings, keys: ProviderKeys, ledger: Ledger | None = None, budgets: Budgets | None = None
) -> BuildModel:
    """Return a function that makes models by name, whose requests are checked against budgets and recorded.

    Args:
        settings: how models reply.
        keys: the providers' keys.
        ledger: records the requests; None records none.
        budgets: checked before each request.
    """
    answering = Answering(settings.MODEL_MAX_OUTPUT_TOKENS, settings.MODEL_TEMPERATURE)

    def build(name: str) -> Model:
        return ConnectedModel(lambda client: build_model(name, keys, answering, client))

    return recorded(build, ledger or NoLedger(), budgets)


def build_judge(settings: Settings, keys: ProviderKeys, build: BuildModel) -> Judge:
    """Build the judge between candidates: a model, or without one the first candidate."""
    models = evaluator_models(settings, keys)
    if not models:
        return FirstContender()
    return ModelJudge(
        models[0],
        build,
        timeout=settings.EVALUATOR_LLM_TIMEOUT,
        fallback_model=models[1] if len(models) > 1 else None,
        output_mode=settings.EVALUATOR_OUTPUT_MODE,
    )
