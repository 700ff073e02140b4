"""Requests in every dialect pass the gateway, are metered, and carry the key only towards the provider."""

import asyncio
import json

import pytest

from app.agents.gateway_port import Dialect, GatewayGrant
from app.agents.models.providers import MissingKeyError
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import NoLedger
from app.gateway.prices import CostKind, ListPrices
from app.gateway.scripted.answers.answer import Turnover
from app.gateway.scripted.script import Say
from app.gateway.scripted.server import Mode
from tests.integration.gateway.support import (
    EVERY_DIALECT,
    KEY,
    MODEL,
    WORDS,
    client_of,
    open_scene,
    request,
)

pytestmark = pytest.mark.anyio

STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
DIALECTS = pytest.mark.parametrize("dialect", EVERY_DIALECT, ids=str)


@DIALECTS
@STREAMED
async def test_relays_and_meters(dialect: Dialect, stream: bool) -> None:
    async with open_scene(dialect) as scene:
        answer = await scene.ask(stream=stream)
        assert answer.status_code == 200, answer.text
        kind = "text/event-stream" if stream else "application/json"
        assert answer.headers["content-type"].startswith(kind)
        assert (WORDS in answer.text) is not stream or dialect is Dialect.OPENAI_RESPONSES
        usage = scene.endpoint.usage()
        assert (usage.requests, usage.input_tokens, usage.output_tokens) == (1, 2000, 100)
        [line] = scene.ledger.lines
        assert (line.status, line.model, line.tokens.input, line.tokens.output) == (200, MODEL, 2000, 100)
        assert scene.endpoint.failure() is None


@DIALECTS
async def test_the_client_gets_the_stream_as_the_provider_sent_it(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        relayed = await scene.ask(stream=True)
        path, body = request(dialect, stream=True)
        body = {**body, "stream_options": {"include_usage": True}}
        direct = await scene.client.post(scene.server.url + path, json=body)
        assert _numberless(relayed.text) == _numberless(direct.text)


def _numberless(text: str) -> str:
    return text.replace("scripted_1", "scripted_2").replace("scripted-1", "scripted-2")


@DIALECTS
async def test_sends_the_key_instead_of_the_token(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        await scene.ask()
        [seen] = scene.server.requests
        sent = " ".join(f"{name}: {value}" for name, value in seen.headers.items())
        assert KEY in sent
        assert scene.endpoint.token not in sent


async def test_takes_the_token_from_the_query_and_sends_it_no_further() -> None:
    async with open_scene(Dialect.GEMINI) as scene:
        path, body = request(Dialect.GEMINI, stream=True)
        token = scene.endpoint.token
        async with client_of(scene.endpoint, Dialect.GEMINI, token="") as client:
            answer = await client.post(f"{path}&key={token}", json=body)
        assert answer.status_code == 200
        assert scene.server.requests[0].query == "alt=sse"


@DIALECTS
async def test_relays_the_body_unchanged(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        answer = await scene.ask(temperature=0.25, note="naïve 😀")
        assert answer.status_code == 200
        body = scene.server.requests[0].body
        assert (body["temperature"], body["note"]) == (0.25, "naïve 😀")


async def test_forwards_no_header_that_names_another_account() -> None:
    async with open_scene() as scene:
        path, body = request(scene.dialect)
        headers = {
            "openai-organization": "org-other",
            "cookie": "a=b",
            "accept-encoding": "gzip",
            "x-forwarded-for": "10.0.0.1",
            "anthropic-beta": "kept",
        }
        await scene.client.post(path, json=body, headers=headers)
        seen = scene.server.requests[0].headers
        assert {"openai-organization", "cookie", "x-forwarded-for"}.isdisjoint(seen)
        assert seen["anthropic-beta"] == "kept"
        assert seen["accept-encoding"] == "identity"
        assert seen["anthropic-version"] == "2023-06-01"


async def test_chat_streams_end_with_their_usage_although_the_client_did_not_ask() -> None:
    async with open_scene(Dialect.OPENAI_CHAT) as scene:
        await scene.ask(stream=True, stream_options={"include_usage": False, "other": 1})
        assert scene.server.requests[0].body["stream_options"] == {"include_usage": True, "other": 1}
        assert scene.endpoint.usage().input_tokens == 2000


async def test_gemini_streams_without_events_are_metered() -> None:
    async with open_scene(Dialect.GEMINI) as scene:
        path, body = request(Dialect.GEMINI, stream=True)
        answer = await scene.client.post(path.removesuffix("?alt=sse"), json=body)
        assert isinstance(json.loads(answer.text), list)
        assert scene.endpoint.usage().total_tokens == 2100
        assert scene.endpoint.failure() is None


@DIALECTS
async def test_a_base_url_may_have_a_path(dialect: Dialect) -> None:
    async with open_scene(dialect, prefix="/proxy/team-a") as scene:
        assert (await scene.ask()).status_code == 200
        path, _ = request(dialect)
        assert scene.server.requests[0].path == f"/proxy/team-a{path}"


async def test_a_confined_agent_gets_a_socket() -> None:
    async with open_scene(confined=True) as scene:
        assert scene.endpoint.url is None
        assert scene.endpoint.socket is not None
        path = scene.endpoint.socket
        assert path.stat().st_mode & 0o777 == 0o600
        assert (await scene.ask(stream=True)).status_code == 200
    assert not path.parent.exists()


async def test_costs_are_computed_by_the_model_that_answered() -> None:
    async with open_scene() as scene:
        await scene.ask()
        [line] = scene.ledger.lines
        assert line.cost.kind is CostKind.COMPUTED
        assert scene.endpoint.usage().cost_usd == pytest.approx(float(line.cost.dollars or 0))
        assert scene.endpoint.usage().cost_usd > 0


async def test_a_model_without_a_price_costs_an_unknown_amount() -> None:
    async with open_scene(models=("local-*",)) as scene:
        await scene.ask(model="local-7b")
        [line] = scene.ledger.lines
        assert (line.cost.kind, line.cost.dollars) == (CostKind.UNKNOWN, None)
        assert scene.endpoint.usage().cost_usd is None


async def test_lists_only_models_that_may_be_asked() -> None:
    async with open_scene(Dialect.OPENAI_CHAT, models=("other",)) as scene:
        answer = await scene.client.get("/v1/models")
        assert answer.json()["data"] == []
    async with open_scene(Dialect.GEMINI, models=("scripted-*",)) as scene:
        answer = await scene.client.get("/v1beta/models")
        assert [each["name"] for each in answer.json()["models"]] == ["models/scripted-model"]


async def test_counting_tokens_is_no_request() -> None:
    async with open_scene() as scene:
        path, body = request(scene.dialect)
        answer = await scene.client.post(f"{path}/count_tokens", json=body)
        assert answer.json() == {"input_tokens": 2000}
        assert scene.endpoint.usage().requests == 0
        assert scene.ledger.lines == []


async def test_answers_the_probe_of_a_client_without_the_provider() -> None:
    async with open_scene() as scene:
        assert (await scene.client.head("/")).status_code == 200
        assert scene.server.requests == []


async def test_relays_a_prompt_of_a_megabyte() -> None:
    async with open_scene() as scene:
        path, body = request(scene.dialect, prompt="x" * 1_000_000, stream=True)
        assert (await scene.client.post(path, json=body)).status_code == 200
        assert len(scene.server.requests[0].body["messages"][0]["content"]) == 1_000_000


async def test_requests_run_side_by_side() -> None:
    async with open_scene() as scene:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(scene.ask(stream=each % 2 == 0)) for each in range(20)]
        assert {each.result().status_code for each in asked} == {200}
        assert scene.endpoint.usage().requests == 20
        assert scene.endpoint.usage().total_tokens == 42_000
        assert len(scene.ledger.lines) == 20


async def test_pieces_of_a_stream_come_one_by_one() -> None:
    async with open_scene(pause=0.05) as scene:
        scene.server.behave(Mode.SLOW)
        path, body = request(scene.dialect, stream=True)
        async with scene.client.stream("POST", path, json=body) as answer:
            pieces = [piece async for piece in answer.aiter_raw()]
        assert len(pieces) > 5


async def test_what_was_consumed_is_known_before_the_client_sees_the_end() -> None:
    async with open_scene() as scene:
        path, body = request(scene.dialect, stream=True)
        async with scene.client.stream("POST", path, json=body) as answer:
            async for line in answer.aiter_lines():
                if "message_stop" in line:
                    assert scene.endpoint.usage().output_tokens == 100


async def test_a_client_that_goes_away_closes_the_stream_of_the_provider() -> None:
    async with open_scene(pause=5.0) as scene:
        scene.server.behave(Mode.SLOW)
        path, body = request(scene.dialect, stream=True)
        async with scene.client.stream("POST", path, json=body) as answer:
            assert answer.status_code == 200
        async with asyncio.timeout(20):
            await scene.server.closed_early.wait()
            while not scene.ledger.lines:  # noqa: ASYNC110 - the ledger of this test gives no signal
                await asyncio.sleep(0.01)
        assert scene.ledger.lines[0].status == 499


async def test_a_client_that_goes_away_before_the_answer_closes_it_too() -> None:
    async with open_scene() as scene:
        scene.server.behave(Mode.HANG)
        asking = asyncio.create_task(scene.ask())
        async with asyncio.timeout(20):
            while not scene.server.requests:  # noqa: ASYNC110 - the server gives no signal
                await asyncio.sleep(0.01)
            asking.cancel()
            await scene.server.closed_early.wait()


async def test_leaving_the_block_ends_open_requests() -> None:
    async with open_scene() as scene:
        scene.server.behave(Mode.HANG)
        grant = GatewayGrant(scene.dialect, (MODEL,), confined=False)
        async with scene.gateway.open(grant) as endpoint:
            client = client_of(endpoint, scene.dialect)
            path, body = request(scene.dialect)
            asking = asyncio.create_task(client.post(path, json=body))
            while not scene.server.requests:  # noqa: ASYNC110 - the server gives no signal
                await asyncio.sleep(0.01)
        async with asyncio.timeout(20):
            await scene.server.closed_early.wait()
            await asyncio.wait([asking])
        assert asking.exception() is not None
        await client.aclose()


async def test_a_provider_without_a_key_is_refused_at_once() -> None:
    async with ModelGateway({}, ListPrices(), NoLedger()) as gateway:
        with pytest.raises(MissingKeyError, match="GEMINI_API_KEY"):
            async with gateway.open(GatewayGrant(Dialect.GEMINI, (MODEL,))):
                pass


async def test_cached_tokens_are_part_of_the_input() -> None:
    for dialect in EVERY_DIALECT:
        async with open_scene(dialect, script=(Say(),)) as scene:
            scene.server.usage = Turnover(input=1000, output=10, cached=400)
            await scene.ask(stream=True)
            [line] = scene.ledger.lines
            assert (line.tokens.input, line.tokens.cache_read) == (1000, 400), dialect
