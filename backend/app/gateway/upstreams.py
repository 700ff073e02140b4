"""The model providers behind the gateway: their addresses, and the keys that stay here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from app.agents.gateway_port import Dialect
from app.agents.models.providers import ANTHROPIC_URL, OPENAI_URL, ProviderKeys

GEMINI_URL = "https://generativelanguage.googleapis.com"

ANTHROPIC_VERSION = "2023-06-01"


@dataclass(frozen=True, slots=True)
class Upstream:
    """One provider, for one dialect. Its representation shows no key.

    Attributes:
        dialect: the dialect of its interface.
        provider: its name in OpenTelemetry's conventions, such as `anthropic`.
        base_url: precedes a route's path.
        key: None for servers that need none.
        key_variable: the setting that holds the key.
        price_id: its name in the table of prices, if its address is not listed there.
    """

    dialect: Dialect
    provider: str
    base_url: str
    key: str | None = field(repr=False)
    key_variable: str
    price_id: str

    def headers(self) -> dict[str, str]:
        """Return the headers that carry the key."""
        if not self.key:
            return {}
        match self.dialect:
            case Dialect.ANTHROPIC:
                return {"x-api-key": self.key}
            case Dialect.GEMINI:
                return {"x-goog-api-key": self.key}
            case Dialect.OPENAI_CHAT | Dialect.OPENAI_RESPONSES:
                return {"authorization": f"Bearer {self.key}"}


KEY_VARIABLES: Mapping[Dialect, str] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: "OPENAI_API_KEY",
        Dialect.OPENAI_RESPONSES: "OPENAI_API_KEY",
        Dialect.ANTHROPIC: "ANTHROPIC_API_KEY",
        Dialect.GEMINI: "GEMINI_API_KEY",
    }
)
"""The setting that holds each provider's key."""

PROVIDERS: Mapping[Dialect, str] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: "openai",
        Dialect.OPENAI_RESPONSES: "openai",
        Dialect.ANTHROPIC: "anthropic",
        Dialect.GEMINI: "gcp.gemini",
    }
)
"""Names in OpenTelemetry's conventions."""

PRICE_IDS: Mapping[Dialect, str] = MappingProxyType({**PROVIDERS, Dialect.GEMINI: "google"})
"""Names in the table of prices."""


def upstreams_of(keys: ProviderKeys) -> Mapping[Dialect, Upstream]:
    """Return the configured providers. A key or another server's address configures one."""
    openai = (keys.openai_api_key, keys.openai_base_url, OPENAI_URL)
    configured: Mapping[Dialect, tuple[str | None, str | None, str]] = {
        Dialect.OPENAI_CHAT: openai,
        Dialect.OPENAI_RESPONSES: openai,
        Dialect.ANTHROPIC: (keys.anthropic_api_key, keys.anthropic_base_url, ANTHROPIC_URL),
        Dialect.GEMINI: (keys.gemini_api_key, keys.gemini_base_url, GEMINI_URL),
    }
    return {
        dialect: Upstream(
            dialect,
            PROVIDERS[dialect],
            (url or usual).rstrip("/"),
            key,
            KEY_VARIABLES[dialect],
            PRICE_IDS[dialect],
        )
        for dialect, (key, url, usual) in configured.items()
        if key or url
    }
