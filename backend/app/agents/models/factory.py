"""Makes language models from names such as `openai:gpt-5.6-sol` and from the given keys."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from app.agents.models.providers import (
    ANTHROPIC_URL,
    OPENAI_URL,
    MissingKeyError,
    ProviderKeys,
    UnknownProviderError,
)

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.providers.openai import OpenAIProvider

    _Client = httpx2.AsyncClient | None


@dataclass(frozen=True, slots=True)
class Answering:
    """How models answer. None leaves a setting to the provider.

    Attributes:
        max_tokens: limit of one answer.
        temperature: of sampling.
    """

    max_tokens: int | None = None
    temperature: float | None = None

    def settings(self) -> ModelSettings:
        """Return the settings that are not None, in the form for a request."""
        # The SDKs would retry by themselves and wait as long as the server says. Retries are decided in one
        # place.
        settings = ModelSettings(max_retries=0)
        if self.max_tokens is not None:
            settings["max_tokens"] = self.max_tokens
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        return settings


AS_USUAL = Answering()


def build_model(
    name: str,
    keys: ProviderKeys,
    answering: Answering = AS_USUAL,
    client: "httpx2.AsyncClient | None" = None,
) -> Model:
    """Make the model called `name`.

    `anthropic:NAME` uses Anthropic's Messages API, `openai:NAME` OpenAI's Responses API and
    `openai-chat:NAME` the Chat Completions API of OpenAI or of a compatible server. The model retries nothing
    by itself. `async with model` closes its connections at the end.

    Args:
        name: the model's name.
        keys: the providers' credentials.
        answering: how the model answers, unless a request says otherwise.
        client: carries its requests and is closed by its owner; None uses a client of the model.

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
    return build(model, keys, answering.settings(), client)


# The providers' SDKs take seconds to import, and many runs ask no model. So they are imported on use.


def _anthropic(model: str, keys: ProviderKeys, settings: ModelSettings, client: "_Client") -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - only with this provider: its SDK is slow to import
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    if not keys.anthropic_api_key:
        raise MissingKeyError(f"No key for anthropic:{model}: set ANTHROPIC_API_KEY", field="model")
    provider = AnthropicProvider(
        api_key=keys.anthropic_api_key,
        base_url=keys.anthropic_base_url or ANTHROPIC_URL,
        http_client=client,
    )
    return AnthropicModel(model, provider=provider, settings=settings)


def _openai_provider(name: str, keys: ProviderKeys, client: "_Client") -> "OpenAIProvider":
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    if not keys.openai_api_key and not keys.openai_base_url:
        raise MissingKeyError(f"No key for {name}: set OPENAI_API_KEY", field="model")
    # The client requires a key, which most local servers ignore.
    return OpenAIProvider(
        api_key=keys.openai_api_key or "none",
        base_url=keys.openai_base_url or OPENAI_URL,
        http_client=client,
    )


def _openai_responses(model: str, keys: ProviderKeys, settings: ModelSettings, client: "_Client") -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    provider = _openai_provider(f"openai:{model}", keys, client)
    return OpenAIResponsesModel(model, provider=provider, settings=settings)


def _openai_chat(model: str, keys: ProviderKeys, settings: ModelSettings, client: "_Client") -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - only with this provider: its SDK is slow to import
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415 - only with this provider: its SDK is slow to import

    provider = _openai_provider(f"openai-chat:{model}", keys, client)
    # Otherwise a stream that was cut short would count as complete.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(model, provider=provider, profile=profile, settings=settings)


_BUILDERS: dict[str, Callable[[str, ProviderKeys, ModelSettings, "_Client"], Model]] = {
    "anthropic": _anthropic,
    "openai": _openai_responses,
    "openai-chat": _openai_chat,
}
