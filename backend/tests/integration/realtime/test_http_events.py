"""Events over HTTP: pages of JSON, and Server-Sent Events that resume and end with the run."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from app.api.routes.events import EventPage
from app.realtime.hub import HubLimits
from tests.integration.realtime.support import Service, serving, until
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

STREAM = {"Accept": "text/event-stream"}


@asynccontextmanager
async def client_of(service: Service) -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=f"{service.http}/api/v1/runs", trust_env=False, timeout=PATIENCE
    ) as client:
        yield client


class Stream:
    """Reads Server-Sent Events as browsers do."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, str] | None:
        """The next event; comments are passed over, None is the end."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            name, _, value = line.partition(": ")
            if line and name:
                fields[name] = value
            elif not line and fields:
                return fields
        return None

    async def rest(self) -> list[dict[str, str]]:
        events: list[dict[str, str]] = []
        while event := await self.next():
            events.append(event)
        return events


def positions(events: list[dict[str, str]]) -> list[int]:
    """The numbers in the ids of streamed events, which are all of one history."""
    numbers, epochs = zip(*(event["id"].split("@") for event in events), strict=True)
    assert len(set(epochs)) == 1
    return [int(number) for number in numbers]


@asynccontextmanager
async def streaming(service: Service, run_id: UUID, **options: Any) -> AsyncGenerator[Stream]:
    options["headers"] = {**STREAM, **options.get("headers", {})}
    async with client_of(service) as client, client.stream("GET", f"/{run_id}/events", **options) as response:
        yield Stream(response)


async def test_pages(database_url: str) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 5)
        got: list[int] = []
        after = 0
        while True:
            answer = await client.get(f"/{run_id}/events", params={"after": after, "limit": 2})
            assert answer.headers["content-type"] == "application/json"
            page = EventPage.model_validate_json(answer.content)
            assert (page.head, page.mode) == (5, "resumed")
            got += [event.sequence for event in page.events]
            if not page.events:
                break
            after = page.next_after
    assert got == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("query", "sequences", "next_after"),
    [
        pytest.param({"types": ["workflow.completed"]}, [4], 4, id="a type"),
        pytest.param(
            {"types": ["workflow.completed", "agent.progress"], "limit": 3}, [1, 2, 3], 3, id="full"
        ),
        pytest.param({"types": ["agent.progress"]}, [1, 2, 3], 4, id="the last ones are passed over"),
        pytest.param({"types": ["judge.decided"]}, [], 4, id="none"),
        pytest.param({"phase": "coding", "attempt": 1}, [1, 2, 3], 4, id="an attempt"),
        pytest.param({"phase": "coding", "attempt": 2}, [], 4, id="another attempt"),
        pytest.param({"phase": "discovery"}, [], 4, id="another phase"),
        pytest.param({"types": ["agent.progress"], "after": 2}, [3], 4, id="behind a cursor"),
    ],
)
async def test_a_page_of_chosen_events(
    database_url: str, query: dict[str, Any], sequences: list[int], next_after: int
) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 3)
        await service.runs.complete(run_id)
        page = EventPage.model_validate_json((await client.get(f"/{run_id}/events", params=query)).content)
    assert [event.sequence for event in page.events] == sequences
    assert (page.head, page.next_after, page.mode) == (4, next_after, "resumed")


@pytest.mark.parametrize(
    ("stored", "after", "expected"),
    [
        pytest.param(0, 0, {"events": [], "head": 0, "next_after": 0, "mode": "resumed"}, id="no events"),
        pytest.param(0, 3, {"events": [], "head": 0, "next_after": 0, "mode": "reset"}, id="ahead of none"),
    ],
)
async def test_pages_without_events(
    database_url: str, stored: int, after: int, expected: dict[str, Any]
) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        run_id = await service.runs.add()
        page = (await client.get(f"/{run_id}/events", params={"after": after})).json()
        assert page == expected | {"epoch": await service.realtime.reader.epoch()}


async def test_a_page_for_a_cursor_ahead_begins_anew_and_says_so(database_url: str) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 2)
        page = (await client.get(f"/{run_id}/events", params={"after": 3})).json()
    assert (page["mode"], page["next_after"], len(page["events"])) == ("reset", 2, 2)


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["page", "stream"])
async def test_unknown_run(database_url: str, headers: dict[str, str]) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        answer = await client.get(f"/{uuid4()}/events", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        pytest.param("after=-1", {}, id="negative cursor"),
        pytest.param("after=x", {}, id="cursor is text"),
        pytest.param("after=9223372036854775808", {}, id="beyond bigint"),
        pytest.param("limit=0", {}, id="no events wanted"),
        pytest.param("limit=1001", {}, id="too many wanted"),
        pytest.param("types=unknown", {}, id="no type of events"),
        pytest.param("attempt=0", {}, id="no attempt"),
        pytest.param("", {"Last-Event-ID": "x"}, id="bad event id"),
    ],
)
async def test_bad_numbers(database_url: str, query: str, headers: dict[str, str]) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        run_id = await service.runs.add()
        answer = await client.get(f"/{run_id}/events?{query}", headers=headers)
    assert answer.status_code == 422


async def test_stream_to_the_end_of_the_run(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 2)
        async with streaming(service, run_id) as stream:
            assert stream.response.headers["content-type"].startswith("text/event-stream")
            first = await stream.next()
            await service.runs.progress(run_id, text="a line\n\nid: 99\ndata: forged")
            await service.runs.complete(run_id)
            rest = await stream.rest()
    assert first is not None
    assert json.loads(first["data"])["sequence"] == 1
    assert positions([first, *rest]) == [1, 2, 3, 4]
    assert [event["event"] for event in rest] == ["agent.progress", "agent.progress", "workflow.completed"]
    assert [json.loads(event["data"])["sequence"] for event in rest] == [2, 3, 4]


async def test_stream_resumes_by_last_event_id_before_the_query(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 4)
        await service.runs.complete(run_id)
        options = {"headers": {"Last-Event-ID": "3"}, "params": {"after": 1}}
        async with streaming(service, run_id, **options) as stream:
            events = await stream.rest()
    assert positions(events) == [4, 5]


async def test_stream_of_a_run_that_is_over_and_known_ends_at_once(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        last = await service.runs.complete(run_id)
        async with streaming(service, run_id, params={"after": last}) as stream:
            assert stream.response.status_code == 204
            assert await stream.rest() == []


async def test_stream_for_a_cursor_ahead_begins_with_a_reset(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.complete(run_id)
        async with streaming(service, run_id, params={"after": 7}) as stream:
            events = await stream.rest()
    assert [event["event"] for event in events] == ["reset", "workflow.completed"]
    assert positions(events) == [0, 1]
    assert json.loads(events[0]["data"])["head"] == 1


async def test_heartbeats_are_comments(database_url: str) -> None:
    async with serving(database_url, limits=HubLimits(heartbeat_seconds=0.01)) as service:
        run_id = await service.runs.add()
        async with streaming(service, run_id) as stream:
            async for line in stream.response.aiter_lines():
                if line == ": heartbeat":
                    break


@pytest.mark.parametrize(
    ("name", "value"), [("types", "agent.progress"), ("phase", "coding"), ("attempt", 1), ("limit", 5)]
)
async def test_a_stream_refuses_filters_that_it_would_ignore(
    database_url: str, name: str, value: str | int
) -> None:
    async with serving(database_url) as service, client_of(service) as client:
        run_id = await service.runs.add()
        answer = await client.get(f"/{run_id}/events", headers=STREAM, params={name: value})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-input")


async def test_stream_limit(database_url: str) -> None:
    async with serving(database_url, limits=HubLimits(max_connections=1)) as service:
        run_id = await service.runs.add()
        async with streaming(service, run_id), client_of(service) as client:
            answer = await client.get(f"/{run_id}/events", headers=STREAM)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:phaserunner:problem:busy")
            assert (await client.get(f"/{run_id}/events")).status_code == 200


async def test_a_stream_is_ended_by_shutdown_and_left_by_its_client(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        async with streaming(service, run_id):
            await until(lambda: run_id in service.realtime.hub.cursors())
        await until(lambda: not service.realtime.hub.cursors())
        async with streaming(service, run_id) as stream:
            service.shut_down()
            assert await stream.rest() == []


async def test_a_stalled_stream_is_dropped(database_url: str) -> None:
    limits = HubLimits(stall_seconds=0.1)
    async with serving(database_url, limits=limits, send_buffer=16_384) as service:
        run_id = await service.runs.add()
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        host, port = service.address.split(":")
        narrow.connect((host, int(port)))
        request = f"GET /api/v1/runs/{run_id}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"
        narrow.sendall(request.encode())
        await until(lambda: run_id in service.realtime.hub.cursors())
        for _ in range(60):
            await service.runs.progress(run_id, text="x" * 100_000)
        await until(lambda: not service.realtime.hub.cursors())
        narrow.close()
        await asyncio.sleep(0)
