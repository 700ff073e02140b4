"""The WebSocket protocol on a real server: frames, resumption, refusals, limits and shutdown."""

import json
from typing import Any
from uuid import uuid4

import pytest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidStatus

from app.realtime.hub import HubLimits
from tests.integration.realtime.support import close_code, receive, receive_events, serving, subscribe, until

pytestmark = pytest.mark.anyio


async def test_resume_goes_on_where_the_client_was(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 5)
        async with service.socket() as connection:
            answer = await subscribe(connection, run_id, after=3)
            events = await receive_events(connection, 2)
        assert answer == {
            "type": "subscribed",
            "run": str(run_id),
            "head": 5,
            "after": 3,
            "epoch": await service.realtime.reader.epoch(),
            "mode": "resumed",
            "status": "active",
        }
        assert [event["sequence"] for event in events] == [4, 5]


@pytest.mark.parametrize("after", [6, 2**63 - 1])
async def test_a_cursor_ahead_of_the_head_is_reset_and_told_so(database_url: str, after: int) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 5)
        answer = await subscribe(connection, run_id, after=after)
        events = await receive_events(connection, 5)
    assert (answer["mode"], answer["head"], answer["after"]) == ("reset", 5, 0)
    assert answer["snapshot"] == f"/api/v1/sprints/{run_id}"
    assert [event["sequence"] for event in events] == [1, 2, 3, 4, 5]


async def test_a_second_subscription_takes_the_place_of_the_first(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 2)
        await subscribe(connection, run_id)
        await receive_events(connection, 2)
        await subscribe(connection, run_id, after=1)
        await service.runs.progress(run_id)
        events = await receive_events(connection, 2)
    assert [event["sequence"] for event in events] == [2, 3]


async def test_unsubscribed_means_no_further_event(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        left, kept = await service.runs.add(), await service.runs.add()
        await subscribe(connection, left)
        await subscribe(connection, kept)
        await connection.send(json.dumps({"type": "unsubscribe", "run": str(left)}))
        assert await receive(connection) == {"type": "unsubscribed", "run": str(left)}
        await service.runs.progress(left)
        await service.runs.progress(kept)
        [event] = await receive_events(connection, 1)
        assert event["run_id"] == str(kept)
        assert list(service.realtime.hub.cursors()) == [kept]
        await connection.send(json.dumps({"type": "unsubscribe", "run": str(left)}))
        assert (await receive(connection))["type"] == "unsubscribed"


async def test_a_run_that_does_not_exist_is_an_error_and_the_socket_goes_on(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        unknown, run_id = uuid4(), await service.runs.add()
        answer = await subscribe(connection, unknown)
        assert (answer["type"], answer["code"], answer["run"]) == ("error", "not-found", str(unknown))
        assert (await subscribe(connection, run_id))["type"] == "subscribed"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("", None, id="empty"),
        pytest.param("not json", None, id="not JSON"),
        pytest.param('{"type":"subscribe"}', "run", id="no run"),
        pytest.param('{"type":"subscribe","run":"runs","after":-1}', "after", id="negative"),
    ],
)
async def test_a_bad_frame_is_an_error_and_the_socket_goes_on(
    database_url: str, text: str, field: str | None
) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        await connection.send(text)
        answer = await receive(connection)
        assert (answer["type"], answer["code"], answer.get("field")) == ("error", "invalid-input", field)
        assert (await subscribe(connection, await service.runs.add()))["type"] == "subscribed"


@pytest.mark.parametrize(
    ("message", "code"), [(b"\x00", 1003), ('"' + "x" * 17_000 + '"', 1009)], ids=["binary", "too big"]
)
async def test_messages_that_are_no_frames_close_the_socket(
    database_url: str, message: Any, code: int
) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        await connection.send(message)
        assert (await close_code(connection))[0] == code


async def test_heartbeats_tell_the_head_that_was_served(database_url: str) -> None:
    async with serving(database_url, limits=HubLimits(heartbeat_seconds=0.01)) as service:
        run_id = await service.runs.add()
        async with service.socket() as connection:
            assert await receive(connection) == {"type": "heartbeat"}
            await subscribe(connection, run_id)
            await service.runs.progress(run_id, 3)
            await receive_events(connection, 3)
            while (frame := await receive(connection)) == {"type": "heartbeat"}:
                pass  # before it was live
            assert frame == {"type": "heartbeat", "run": str(run_id), "head": 3}


async def test_too_many_subscriptions(database_url: str) -> None:
    limits = HubLimits(max_subscriptions=2)
    async with serving(database_url, limits=limits) as service, service.socket() as connection:
        for _ in range(2):
            await subscribe(connection, await service.runs.add())
        await connection.send(json.dumps({"type": "subscribe", "run": "runs"}))
        assert await close_code(connection) == (4429, "there are 2 subscriptions")


async def test_too_many_connections(database_url: str) -> None:
    async with serving(database_url, limits=HubLimits(max_connections=1)) as service:
        async with service.socket() as first:
            await subscribe(first, await service.runs.add())
            async with service.socket() as second:
                assert (await close_code(second))[0] == 4429
        await until(lambda: service.realtime.hub.connections == 0)
        async with service.socket() as third:
            assert (await subscribe(third, await service.runs.add()))["type"] == "subscribed"


async def test_nothing_is_kept_of_clients_that_left(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        for _ in range(20):
            async with service.socket() as connection:
                await subscribe(connection, run_id)
                connection.transport.abort()
        await until(lambda: service.realtime.hub.connections == 0)
        assert service.realtime.hub.cursors() == {}


@pytest.mark.parametrize("noun", ["runs", "sprints"])  # the second is the former path
async def test_plain_socket(database_url: str, noun: str) -> None:
    async with serving(database_url, limits=HubLimits(heartbeat_seconds=0.01)) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 3)
        async with service.socket(f"/ws/{noun}/{run_id}?after=1") as connection:
            assert (await receive_events(connection, 1))[0]["sequence"] == 2
            await connection.send("whatever is said here is ignored")
            await service.runs.progress(run_id)
            assert [event["sequence"] for event in await receive_events(connection, 2)] == [3, 4]
            while (frame := await receive(connection)) == {"type": "heartbeat", "run": str(run_id)}:
                pass  # before it was live
            assert frame == {"type": "heartbeat", "run": str(run_id), "head": 4}


@pytest.mark.parametrize(
    ("path", "code", "word"),
    [
        pytest.param("{run}?after=4", 4409, "after", id="ahead of the head"),
        pytest.param("{run}?after=x", 1008, "after", id="not a number"),
        pytest.param("{run}?after=-1", 1008, "after", id="negative"),
        pytest.param("{run}?after=9223372036854775808", 1008, "after", id="beyond bigint"),
        pytest.param("{run}?afer=5", 1008, "afer", id="mistyped"),
        pytest.param("not-an-id", 1008, "run_id", id="not an id"),
        pytest.param("00000000-0000-0000-0000-000000000000", 4404, "no run", id="unknown run"),
    ],
)
async def test_plain_socket_refuses(database_url: str, path: str, code: int, word: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 3)
        async with service.socket(f"/ws/runs/{path.format(run=run_id)}") as connection:
            got, reason = await close_code(connection)
    assert got == code
    assert word in reason


async def test_shutdown_closes_with_1012(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        async with service.socket() as one, service.socket(f"/ws/runs/{run_id}") as other:
            await subscribe(one, run_id)
            service.shut_down()
            assert (await close_code(one))[0] == 1012
            assert (await close_code(other))[0] == 1012


async def test_what_nobody_foresaw_closes_the_socket_and_is_in_the_log(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_follower: object) -> None:
        raise ArithmeticError("nobody foresaw this")

    async with serving(database_url) as service, service.socket() as connection:
        monkeypatch.setattr(service.realtime.hub.run_list, "join", broken)
        await connection.send(json.dumps({"type": "subscribe", "run": "runs"}))
        assert await close_code(connection) == (1012, "try again soon")
    assert "WebSocket /api/v1/ws failed" in caplog.text
    assert "nobody foresaw this" in caplog.text


async def test_a_path_that_is_no_socket_is_refused(database_url: str) -> None:
    async with serving(database_url) as service:
        with pytest.raises(InvalidStatus) as refused:
            async with service.socket("/wss"):
                pass
    assert refused.value.response.status_code == 403


async def test_on_a_server_that_offers_nothing_beside_asgi(database_url: str) -> None:
    async with serving(database_url, protocol=WebSocketsSansIOProtocol) as service:
        run_id = await service.runs.add()
        async with service.socket() as connection, service.socket(f"/ws/runs/{uuid4()}") as other:
            assert (await close_code(other))[0] == 4404
            await subscribe(connection, run_id)
            await service.runs.progress(run_id, 50)
            events = await receive_events(connection, 50)
            service.shut_down()
            assert (await close_code(connection))[0] == 1012
    assert [event["sequence"] for event in events] == list(range(1, 51))
