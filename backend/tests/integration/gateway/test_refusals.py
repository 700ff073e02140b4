"""What the gateway refuses, and what it says when the provider fails."""

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from app.agents.gateway_port import Dialect
from app.agents.port import AgentLimits, FailureKind
from app.gateway.gateway import ModelGateway
from app.gateway.scripted.server import Mode
from tests.integration.gateway.support import (
    EVERY_DIALECT,
    KEY,
    MODEL,
    RetryRules,
    client_of,
    open_scene,
    request,
)

pytestmark = pytest.mark.anyio

DIALECTS = pytest.mark.parametrize("dialect", EVERY_DIALECT, ids=str)
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def _message(content: object) -> str:
    assert isinstance(content, dict)
    return str(content["error"]["message"])


@DIALECTS
async def test_a_wrong_token_is_refused(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        path, body = request(dialect)
        for wrong in ("x", "pr-wrong", KEY, scene.endpoint.token + "x"):
            async with client_of(scene.endpoint, dialect, token=wrong) as client:
                answer = await client.post(path, json=body)
            assert answer.status_code == 401
            assert "token" in _message(answer.json())
        assert scene.server.requests == []
        assert scene.endpoint.usage().requests == 0


@pytest.mark.parametrize(
    ("dialect", "method", "path"),
    [
        pytest.param(Dialect.ANTHROPIC, "POST", "/v1/chat/completions", id="another dialect"),
        pytest.param(Dialect.OPENAI_CHAT, "POST", "/v1/responses", id="the other dialect of OpenAI"),
        pytest.param(Dialect.OPENAI_CHAT, "POST", "/v1/files", id="files"),
        pytest.param(Dialect.OPENAI_CHAT, "DELETE", "/v1/models/x", id="another method"),
        pytest.param(Dialect.OPENAI_CHAT, "GET", "/v1/models/..%2f..%2fadmin", id="out of the path"),
        pytest.param(Dialect.OPENAI_RESPONSES, "GET", "/v1/responses/resp_1", id="a stored answer"),
        pytest.param(Dialect.ANTHROPIC, "POST", "/v1/messages/batches", id="batches"),
        pytest.param(Dialect.GEMINI, "POST", "/v1beta/models/x:embedContent", id="another call"),
        pytest.param(Dialect.GEMINI, "POST", "/v1beta/models/../x:generateContent", id="dots"),
    ],
)
async def test_other_paths_are_refused(dialect: Dialect, method: str, path: str) -> None:
    async with open_scene(dialect, models=("*",)) as scene:
        answer = await scene.client.request(method, path, json={"model": MODEL})
        assert answer.status_code == 404
        assert scene.server.requests == []
        failure = scene.endpoint.failure()
        assert failure is not None
        assert failure.kind is FailureKind.CONFIGURATION


@DIALECTS
async def test_another_model_is_refused_by_name(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        answer = await scene.ask(model="dearer-model")
        assert answer.status_code == 403
        assert "'dearer-model' is not allowed" in _message(answer.json())
        assert scene.server.requests == []


async def test_a_repeated_key_hides_no_other_model() -> None:
    async with open_scene() as scene:
        path, _ = request(scene.dialect)
        content = f'{{"model": "dearer-model", "messages": [], "model": "{MODEL}"}}'
        answer = await scene.client.post(path, content=content)
        assert answer.status_code == 200
        assert scene.server.requests[0].body == {"model": MODEL, "messages": []}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "body", id="nothing"),
        pytest.param(b"[1]", "body", id="a list"),
        pytest.param(b'{"model": "x"', "body", id="cut off"),
        pytest.param(b"\xff\xfe", "body", id="no text"),
        pytest.param(b"[" * 100_000, "body", id="deep"),
        pytest.param(b'{"model": "x", "temperature": NaN}', "body", id="not a number"),
        pytest.param(b"{}", "model", id="no model"),
        pytest.param(b'{"model": 3}', "model", id="a number for a model"),
        pytest.param(b'{"model": "x", "stream": "yes"}', "stream", id="a word for a switch"),
        pytest.param(b'{"model": "x", "background": true}', "background", id="in the background"),
        pytest.param(b'{"model": "x", "stream": true, "stream_options": 1}', "stream_options", id="options"),
    ],
)
async def test_bodies_that_cannot_be_relayed_name_the_field(content: bytes, says: str) -> None:
    async with open_scene(Dialect.OPENAI_CHAT, models=("*",)) as scene:
        answer = await scene.client.post("/v1/chat/completions", content=content)
        assert answer.status_code == 400
        assert _message(answer.json()).startswith(f"{says}:")
        assert scene.server.requests == []


async def test_a_compressed_body_is_refused() -> None:
    async with open_scene() as scene:
        path, body = request(scene.dialect)
        answer = await scene.client.post(path, json=body, headers={"content-encoding": "gzip"})
        assert answer.status_code == 415


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        pytest.param(
            AgentLimits(requests=1),
            "limit of 1 model requests is reached (AGENT_MAX_REQUESTS)",
            id="requests",
        ),
        pytest.param(
            AgentLimits(total_tokens=2000), "2100 tokens; the limit is 2000 (AGENT_MAX_TOKENS, ", id="tokens"
        ),
        pytest.param(AgentLimits(cost_usd=0.001), "the limit is $0.001 (the rest of the run", id="cost"),
    ],
)
async def test_a_spent_limit_refuses_the_next_request(limits: AgentLimits, says: str) -> None:
    async with open_scene(limits=limits) as scene:
        assert (await scene.ask(stream=True)).status_code == 200
        answer = await scene.ask(stream=True)
        assert answer.status_code == 403
        assert says in _message(answer.json())
        assert len(scene.server.requests) == 1
        failure = scene.endpoint.failure()
        assert failure is not None
        assert (failure.kind, says in failure.message) == (FailureKind.LIMIT, True)


async def test_the_time_limit_refuses_the_next_request() -> None:
    async with open_scene(limits=AgentLimits(seconds=0.0)) as scene:
        answer = await scene.ask()
        assert answer.status_code == 403
        assert "time limit of 0 s is reached (AGENT_TIMEOUT)" in _message(answer.json())


@DIALECTS
@STREAMED
async def test_a_rejected_key_names_the_setting(dialect: Dialect, stream: bool) -> None:
    async with open_scene(dialect) as scene:
        scene.server.behave(Mode.UNAUTHORIZED)
        answer = await scene.ask(stream=stream)
        assert answer.status_code == 401
        assert "_API_KEY" in _message(answer.json())
        failure = scene.endpoint.failure()
        assert failure is not None
        assert failure.kind is FailureKind.CONFIGURATION
        assert len(scene.server.requests) == 1


@DIALECTS
@pytest.mark.parametrize("mode", [Mode.FAILING, Mode.RATE_LIMITED], ids=str)
async def test_an_outage_is_asked_again_and_then_said(dialect: Dialect, mode: Mode) -> None:
    async with open_scene(dialect) as scene:
        scene.server.reset_seconds = 0
        scene.server.behave(mode)
        answer = await scene.ask(stream=True)
        assert answer.status_code == 503
        assert len(scene.server.requests) == 3
        failure = scene.endpoint.failure()
        assert failure is not None
        assert failure.kind is FailureKind.UNAVAILABLE
        assert [line.status for line in scene.ledger.lines] == [503]


@pytest.mark.parametrize("mode", [Mode.FAILING, Mode.RATE_LIMITED], ids=str)
async def test_a_short_outage_is_bridged(mode: Mode) -> None:
    async with open_scene() as scene:
        scene.server.reset_seconds = 0
        scene.server.behave(mode, times=2)
        assert (await scene.ask(stream=True)).status_code == 200
        assert scene.endpoint.failure() is None
        assert scene.endpoint.usage().requests == 1


async def test_a_limit_that_resets_later_is_said_with_its_time() -> None:
    async with open_scene(retry=RetryRules(longest_pause=5.0)) as scene:
        scene.server.reset_seconds = 3600
        scene.server.behave(Mode.RATE_LIMITED)
        before = datetime.now(UTC)
        assert (await scene.ask()).status_code == 503
        assert len(scene.server.requests) == 1
        failure = scene.endpoint.failure()
        assert failure is not None
        assert failure.retry_at is not None
        assert failure.retry_at >= before + timedelta(seconds=3600)


@DIALECTS
async def test_a_stream_cut_short_ends_with_an_error(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        scene.server.behave(Mode.CUT)
        answer = await scene.ask(stream=True)
        assert "broke off" in answer.text.rstrip().rpartition("data: ")[2]
        failure = scene.endpoint.failure()
        assert failure is not None
        assert failure.kind is FailureKind.UNAVAILABLE
        assert [line.status for line in scene.ledger.lines] == [503]


async def test_an_error_inside_a_stream_has_its_own_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"code": "context_length_exceeded", "message": "Your input exceeds the context window."}
    event = {"type": "response.failed", "response": {"error": error}}
    answer = httpx.Response(
        200, headers={"content-type": "text/event-stream"}, content=f"data: {json.dumps(event)}\n\n"
    )
    provider = httpx.MockTransport(lambda _: answer)
    monkeypatch.setattr(ModelGateway, "_make_client", lambda _: httpx.AsyncClient(transport=provider))
    async with open_scene(Dialect.OPENAI_RESPONSES) as scene:
        relayed = await scene.ask(stream=True)
        assert relayed.text == answer.text
        failure = scene.endpoint.failure()
        assert failure is not None
        assert failure.kind is FailureKind.LIMIT
        assert "no longer fits the model's context: Your input exceeds" in failure.message
        assert [each.status for each in scene.ledger.lines] == [503]


async def test_a_whole_answer_cut_short_is_asked_for_again() -> None:
    async with open_scene() as scene:
        scene.server.behave(Mode.CUT, times=1)
        assert (await scene.ask()).status_code == 200
        assert len(scene.server.requests) == 2


@STREAMED
async def test_a_provider_that_hangs_is_given_up(stream: bool) -> None:
    async with open_scene(silence=0.2) as scene:
        scene.server.behave(Mode.HANG)
        answer = await scene.ask(stream=stream)
        assert answer.status_code == 503
        assert "did not answer in time" in _message(answer.json())
        assert len(scene.server.requests) == 1


async def test_a_slow_provider_is_waited_for() -> None:
    async with open_scene() as scene:
        scene.server.behave(Mode.SLOW)
        assert (await scene.ask(stream=True)).status_code == 200


async def test_a_provider_that_is_not_there_is_an_outage() -> None:
    async with open_scene() as scene:
        await scene.server.__aexit__(None, None, None)
        answer = await scene.ask()
        assert answer.status_code == 503
        assert "cannot be reached" in _message(answer.json())


async def test_success_after_a_failure_forgets_it() -> None:
    async with open_scene() as scene:
        scene.server.behave(Mode.UNAUTHORIZED, times=1)
        await scene.ask()
        assert scene.endpoint.failure() is not None
        await scene.ask()
        assert scene.endpoint.failure() is None


async def test_key_and_token_are_in_no_log_and_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    for dialect in EVERY_DIALECT:
        async with open_scene(dialect) as scene:
            for mode in (Mode.OK, Mode.UNAUTHORIZED, Mode.FAILING, Mode.CUT):
                scene.server.behave(mode)
                answer = await scene.ask(stream=True)
                seen += [answer.text, *answer.headers.values()]
            token = scene.endpoint.token
            assert token not in caplog.text
            seen.append(repr(scene.server.upstreams(KEY)))
    assert KEY not in caplog.text
    assert not any(KEY in each for each in seen)
    assert "Work." not in caplog.text


async def test_the_first_activity_is_the_opening_and_later_ones_are_requests() -> None:
    async with open_scene() as scene:
        opened = scene.endpoint.last_activity
        await asyncio.sleep(0.01)
        await scene.ask()
        assert scene.endpoint.last_activity > opened
