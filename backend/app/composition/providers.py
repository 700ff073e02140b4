"""Reads from the settings which models judge, and with which keys; part of the composition root.

Imports no model library, because most processes that only judge need none.
"""

from app.agents.models.providers import ProviderKeys
from app.core.config import Settings


def provider_keys(settings: Settings) -> ProviderKeys:
    """Return the keys of the model providers."""
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
    """Return the models that judge, first choice first, as far as their providers can be asked."""
    named = (settings.EVALUATOR_MODEL, settings.EVALUATOR_FALLBACK_MODEL)
    return [each for each in dict.fromkeys(named) if each and keys.has_key_for(each)]
