"""Models share one TLS context, and are connected only while somebody uses them."""

import ssl

import anyio
import httpx2
import pytest
from pydantic_ai import Agent
from pydantic_ai.models import Model

from app.agents.gateway_port import Dialect
from app.agents.models.connected import ConnectedModel
from app.agents.models.factory import AS_USUAL, build_model
from app.agents.models.providers import MissingKeyError, ProviderKeys
from app.composition.models import model_builder
from app.core.config import Settings
from app.gateway.scripted.server import ScriptedModelServer
from tests.integration.gateway.support import MODEL

pytestmark = pytest.mark.anyio

NAMES = [f"anthropic:{MODEL}", "openai:gpt-5", "openai-chat:gpt-5"]


def keys(server: ScriptedModelServer) -> ProviderKeys:
    upstreams = server.upstreams()
    anthropic, openai = upstreams[Dialect.ANTHROPIC].base_url, upstreams[Dialect.OPENAI_CHAT].base_url
    return ProviderKeys("key", "key", anthropic, openai)


@pytest.mark.parametrize("name", NAMES)
async def test_models_are_used_again_and_by_many_and_read_the_certificates_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[ssl.SSLContext] = []
    load = ssl.SSLContext.load_verify_locations

    def counted(context: ssl.SSLContext, *given: str | None, **named: str | None) -> None:
        loaded.append(context)
        load(context, *given, **named)

    async with ScriptedModelServer() as server:
        clients: list[httpx2.AsyncClient] = []

        def make(client: httpx2.AsyncClient) -> Model:
            clients.append(client)
            return build_model(name, keys(server), AS_USUAL, client)

        first = ConnectedModel(make)
        async with first:
            monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
            await ask(first)
        assert [each.is_closed for each in clients] == [True]

        second = ConnectedModel(make)
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(use, second)
        await use(first)
        assert len(server.requests) == 5
    assert all(each.is_closed for each in clients)
    assert len(clients) == 3, "one for each model, and one for the model that was used again"
    assert loaded == [], "the certificates were read for the first model"


async def test_the_models_of_the_service_are_connected() -> None:
    async with ScriptedModelServer() as server:
        given = keys(server)
        model = model_builder(Settings(_env_file=None), given)("openai-chat:gpt-5")
        await use(model)
        await use(model)
        assert len(server.requests) == 2
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        model_builder(Settings(_env_file=None), ProviderKeys())("openai:gpt-5")


async def use(model: Model) -> None:
    async with model:
        await ask(model)


async def ask(model: Model) -> None:
    await Agent(model).run("Say something.")
