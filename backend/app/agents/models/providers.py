"""The model providers that can be asked: their keys and addresses, and what is said when one is missing.

Imports no library of models, so that what only reads the settings starts quickly.
"""

from dataclasses import dataclass, field

from app.core.errors import PhaseRunnerError
from app.schemas import defaults

DEFAULT_ANTHROPIC_MODEL = defaults.MODEL
DEFAULT_OPENAI_MODEL = "openai:gpt-5.6-sol"

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"


class ModelConfigurationError(PhaseRunnerError):
    """A model cannot be made with what is configured; the message says what to set."""

    status = 422
    code = "model-configuration"
    title = "The model is not configured"


class MissingKeyError(ModelConfigurationError):
    """The key of the model's provider is not configured; the message names the environment variable."""

    code = "missing-key"


class UnknownProviderError(ModelConfigurationError):
    """The name's provider is none that is supported."""

    code = "unknown-provider"


@dataclass(frozen=True, slots=True)
class ProviderKeys:
    """Credentials and addresses of the model providers; its representation shows no key.

    Attributes:
        anthropic_base_url: instead of Anthropic's own address.
        openai_base_url: instead of OpenAI's own; servers that speak the same protocol often need no key.
        gemini_base_url: instead of Google's own.
    """

    anthropic_api_key: str | None = field(default=None, repr=False)
    openai_api_key: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = None
    openai_base_url: str | None = None
    gemini_api_key: str | None = field(default=None, repr=False)
    gemini_base_url: str | None = None

    def has_key_for(self, model: str) -> bool:
        """Tell whether the model's provider is configured: by its key or by another server's address."""
        provider = provider_of(model)
        if provider == "anthropic":
            return bool(self.anthropic_api_key)
        return provider in ("openai", "openai-chat") and bool(self.openai_api_key or self.openai_base_url)


def provider_of(model: str) -> str:
    """The part of a model's name before the colon."""
    return model.partition(":")[0]
