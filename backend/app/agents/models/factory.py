"""Makes language models from names such as `openai:gpt-5.6-sol` and from the keys that were handed in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from app.core.errors import PhaseRunnerError
from app.schemas import defaults

if TYPE_CHECKING:
    from pydantic_ai.providers.openai import OpenAIProvider

DEFAULT_ANTHROPIC_MODEL = defaults.MODEL
DEFAULT_OPENAI_MODEL = "openai:gpt-5.6-sol"

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Answering:
    """How models answer. None leaves it to the provider.

    Attributes:
        max_tokens: of one answer.
        temperature: of sampling.
    """

    max_tokens: int | None = None
    temperature: float | None = None

    def settings(self) -> ModelSettings:
        """Return what is set, as a request takes it."""
        # The SDKs retry on their own and would wait as long as the server says; that is decided in one place.
        settings = ModelSettings(max_retries=0)
        if self.max_tokens is not None:
            settings["max_tokens"] = self.max_tokens
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        return settings


AS_USUAL = Answering()


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


def build_model(name: str, keys: ProviderKeys, answering: Answering = AS_USUAL) -> Model:
    """Make the model called `name`.

    `anthropic:NAME` speaks Anthropic's Messages API, `openai:NAME` OpenAI's Responses API and
    `openai-chat:NAME` the Chat Completions API of OpenAI or of a compatible server. The model retries
    nothing by itself. `async with model` closes its connections at the end.

    Args:
        name: of the model.
        keys: with which it is asked.
        answering: how it answers, where a request says nothing else.

    Raises:
        MissingKeyError: the provider's key is not configured.
        UnknownProviderError: the provider is not one of these, or the name has no provider.
    """
    provider, _, model = name.partition(":")
    build = _BUILDERS.get(provider)
    if build is None or not model:
        raise UnknownProviderError(
            f"unknown model {name!r}: write provider:model, with the provider one of {', '.join(_BUILDERS)}",
            field="model",
        )
    return build(model, keys, answering.settings())


# The SDKs of the providers take seconds to import, and many runs ask no model. So they are imported on use.


def _anthropic(model: str, keys: ProviderKeys, settings: ModelSettings) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - only with this provider: its SDK is slow to import
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    if not keys.anthropic_api_key:
        raise MissingKeyError(f"No key for anthropic:{model}: set ANTHROPIC_API_KEY", field="model")
    provider = AnthropicProvider(
        api_key=keys.anthropic_api_key, base_url=keys.anthropic_base_url or ANTHROPIC_URL
    )
    return AnthropicModel(model, provider=provider, settings=settings)


def _openai_provider(name: str, keys: ProviderKeys) -> "OpenAIProvider":
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    if not keys.openai_api_key and not keys.openai_base_url:
        raise MissingKeyError(f"No key for {name}: set OPENAI_API_KEY", field="model")
    # The client insists on a key, which most local servers ignore.
    return OpenAIProvider(api_key=keys.openai_api_key or "none", base_url=keys.openai_base_url or OPENAI_URL)


def _openai_responses(model: str, keys: ProviderKeys, settings: ModelSettings) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    provider = _openai_provider(f"openai:{model}", keys)
    return OpenAIResponsesModel(model, provider=provider, settings=settings)


def _openai_chat(model: str, keys: ProviderKeys, settings: ModelSettings) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - only with this provider: its SDK is slow to import
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    provider = _openai_provider(f"openai-chat:{model}", keys)
    # Otherwise a stream that was cut short counts as complete.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(model, provider=provider, profile=profile, settings=settings)


_BUILDERS: dict[str, Callable[[str, ProviderKeys, ModelSettings], Model]] = {
    "anthropic": _anthropic,
    "openai": _openai_responses,
    "openai-chat": _openai_chat,
}
