"""Reads from the settings which models judge, and with which keys; part of the composition root."""

from app.agents.models.factory import ProviderKeys
from app.agents.models.judge import FirstContender, Judge, ModelJudge
from app.core.config import Settings
from app.gateway.recorded_model import BuildModel


def provider_keys(settings: Settings) -> ProviderKeys:
    """Return the keys with which models can be asked."""
    anthropic, openai, gemini = settings.ANTHROPIC_API_KEY, settings.OPENAI_API_KEY, settings.GEMINI_API_KEY
    return ProviderKeys(
        anthropic_api_key=anthropic.get_secret_value() if anthropic else None,
        openai_api_key=openai.get_secret_value() if openai else None,
        anthropic_base_url=settings.ANTHROPIC_BASE_URL,
        openai_base_url=settings.OPENAI_BASE_URL,
        gemini_api_key=gemini.get_secret_value() if gemini else None,
        gemini_base_url=settings.GEMINI_BASE_URL,
    )


def evaluator_models(settings: Settings, keys: ProviderKeys) -> list[str]:
    """Return the models that judge, the first choice first: those whose provider can be asked."""
    named = (settings.EVALUATOR_MODEL, settings.EVALUATOR_FALLBACK_MODEL)
    return [each for each in dict.fromkeys(named) if each and keys.has_key_for(each)]


def build_judge(settings: Settings, keys: ProviderKeys, build: BuildModel) -> Judge:
    """Make what chooses between candidates: a model, or without one the first candidate."""
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
