"""The supported model providers: their keys and addresses, and the errors for missing ones.

This module imports no model library, so that code which only reads the settings starts quickly.
"""

from dataclasses import dataclass, field

from app.core.errors import PhaseRunnerError
from app.schemas import defaults

DEFAULT_ANTHROPIC_MODEL = defaults.MODEL
DEFAULT_OPENAI_MODEL = "openai:gpt-5.6-sol"

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"


class ModelConfigurationError(PhaseRunnerError):
    """A model cannot be made with the present configuration. The message says what to set."""

    status = 422
    code = "model-configuration"
    title = "The model is not configured"


class MissingKeyError(ModelConfigurationError):
    """The key of the model's provider is not configured. The message names the environment variable."""

    code = "missing-key"


class UnknownProviderError(ModelConfigurationError):
    """The provider in the model's name is not supported."""

    code = "unknown-provider"


@dataclass(frozen=True, slots=True)
class ProviderKeys:
    """Credentials and addresses of the model providers. Its representation shows no key.

    Attributes:
        anthropic_base_url: replaces Anthropic's own address.
        openai_base_url: replaces OpenAI's own; servers with the same protocol often need no key.
        gemini_base_url: replaces Google's own.
    """

    anthropic_api_key: str | None = field(default=None, repr=False)
    openai_api_key: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = None
    openai_base_url: str | None = None
    gemini_api_key: str | None = field(default=None, repr=False)
    gemini_base_url: str | None = None

    def has_key_for(self, model: str) -> bool:
        """Return True if the model's provider is configured, by its key or by another server's address."""
        provider = provider_of(model)
        if provider == "anthropic":
            return bool(self.anthropic_api_key)
        return provider in ("openai", "openai-chat") and bool(self.openai_api_key or self.openai_base_url)


def provider_of(model: str) -> str:
    """Return the part of a model's name before the colon."""
    return model.partition(":")[0]
