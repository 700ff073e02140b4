"""Who may do what, and from where: for HTTP and for WebSockets."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI

from app.realtime.hub import Hub
from tests.integration.api.support import HERE, Api, open_api, problem_of
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def guarded(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[Api]:
    data_dir = tmp_path_factory.mktemp("data")
    async with open_api(module_database_url, data_dir, hosts=("Tea.example",), tokens_needed=True) as opened:
        yield opened


@pytest.fixture(scope="module")
async def tokens(guarded: Api) -> dict[str, str]:
    return {
        role: await guarded.tokens.create(f"{role} of this module", role)
        for role in ("viewer", "operator", "reviewer", "admin")
    }


@dataclass
class Held:
    """A WebSocket that stays open until the server closes it."""

    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    accepted: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        self.accepted.set()

    def code(self) -> int | None:
        codes = [each["code"] for each in self.sent if each["type"] == "websocket.close"]
        return codes[0] if codes else None


@asynccontextmanager
async def holding(app: FastAPI, path: str, token: str) -> AsyncGenerator[tuple[Held, asyncio.Task[None]]]:
    """Open a WebSocket with a token; give it, and the task that ends when it is closed."""
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "websocket.connect"})
    held = Held()
    headers = [("authorization", f"Bearer {token}")] if token else []
    opened = app(socket_scope(path, headers=headers), incoming.get, held.send)
    task = asyncio.create_task(to_coroutine(opened))
    try:
        async with asyncio.timeout(PATIENCE):
            await held.accepted.wait()
        yield held, task
    finally:
        incoming.put_nowait({"type": "websocket.disconnect", "code": 1000})
        async with asyncio.timeout(PATIENCE):
            await task


async def to_coroutine(awaited: Awaitable[None]) -> None:
    await awaited


async def converse(
    app: FastAPI,
    path: str = "/api/v1/ws",
    *,
    headers: Sequence[tuple[str, str]] = (),
    query: str = "",
    subprotocols: Sequence[str] = (),
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Open a WebSocket and leave as soon as it is accepted or closed; give what was sent, and the scope."""
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "websocket.connect"})
    sent: list[dict[str, Any]] = []
    scope = socket_scope(path, headers=headers, query=query, subprotocols=subprotocols)

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "websocket.accept":
            incoming.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async with asyncio.timeout(PATIENCE):
        await app(scope, incoming.get, send)
    return sent, scope


def socket_scope(
    path: str,
    *,
    headers: Sequence[tuple[str, str]] = (),
    query: str = "",
    subprotocols: Sequence[str] = (),
) -> dict[str, Any]:
    named = {"host": HERE.removeprefix("http://"), **dict(headers)}
    return {
        "type": "websocket",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
        "subprotocols": list(subprotocols),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }


HOSTS = {
    "by address": ("127.0.0.1:8000", 200),
    "by name": ("localhost", 200),
    "by IPv6": ("[::1]:8000", 200),
    "a rebound name": ("evil.example:8000", 403),
    "a name that begins like ours": ("localhost.evil.example", 403),
    "nothing": ("", 403),
    "nonsense": ("[::1", 403),
    "user information": ("evil.example@localhost.evil", 403),
}


@pytest.mark.parametrize(("host", "status"), HOSTS.values(), ids=HOSTS.keys())
async def test_hosts(api: Api, host: str, status: int) -> None:
    response = await api.client.get("/api/v1/sprints", headers={"Host": host})
    assert response.status_code == status
    if status == 403:
        problem_of(response)


async def test_allowed_hosts(guarded: Api, tokens: dict[str, str]) -> None:
    headers = {"Host": "tea.EXAMPLE:443", "Authorization": f"Bearer {tokens['viewer']}"}
    assert (await guarded.client.get("/api/v1/sprints", headers=headers)).status_code == 200


ORIGINS = {
    "our own page": ("http://127.0.0.1:8000", 200),
    "another port of this machine": ("http://127.0.0.1:3000", 403),
    "another name of this machine": ("http://localhost:8000", 403),
    "somewhere else": ("https://evil.example", 403),
    "a page without origin": ("null", 403),
    "an extension": ("chrome-extension://127.0.0.1:8000", 403),
    "nonsense": ("http://[", 403),
    "empty": ("", 403),
}


@pytest.mark.parametrize(("origin", "status"), ORIGINS.values(), ids=ORIGINS.keys())
async def test_origins(api: Api, origin: str, status: int) -> None:
    response = await api.client.get("/api/v1/sprints", headers={"Origin": origin})
    assert response.status_code == status
    sent, _ = await converse(api.app, headers=[("origin", origin)])
    closed = [each.get("code") for each in sent if each["type"] == "websocket.close"]
    assert closed == ([4403] if status == 403 else [])


async def test_a_page_elsewhere_starts_nothing(api: Api) -> None:
    before = await api.rows.count("runs")
    body = {"goal": "g", "source": {"kind": "empty"}}
    response = await api.client.post("/api/v1/sprints", json=body, headers={"Origin": "https://evil.example"})
    assert response.status_code == 403
    assert await api.rows.count("runs") == before


NAMES = {
    "a name": (b"Ada Lovelace", "Ada Lovelace"),
    "no name": (b"  ", "local"),
    "beyond ASCII": ("Ádám 挨拶".encode(), "Ádám 挨拶"),
    "control characters": (b"a\x1b[2J\x07b", "a[2Jb"),
    "much too long": (b"n" * 5_000, "n" * 100),
    "turned around": ("a\u202eb".encode(), "ab"),
}


@pytest.mark.parametrize(("given", "name"), NAMES.values(), ids=NAMES.keys())
async def test_names_of_people(api: Api, given: bytes, name: str) -> None:
    run_id = await api.rows.run()
    response = await api.client.post(
        f"/api/v1/runs/{run_id}/cancel", headers=[(b"X-PhaseRunner-User", given)]
    )
    assert response.json()["status_reason"] == f"cancelled by {name}"


RUN = "{run}"
NEEDS: dict[str, tuple[str, str, dict[str, Any] | None, str]] = {
    "list": ("GET", "/api/v1/sprints", None, "viewer"),
    "show": ("GET", "/api/v1/runs/{run}", None, "viewer"),
    "events": ("GET", "/api/v1/runs/{run}/events", None, "viewer"),
    "info": ("GET", "/api/v1/info", None, "viewer"),
    "start": ("POST", "/api/v1/sprints", {"goal": "g", "source": {"kind": "empty"}}, "operator"),
    "evaluate": ("POST", "/api/v1/evaluations", {"path": "/does/not/exist"}, "operator"),
    "resolve": ("POST", "/api/v1/escalations/{escalation}/resolve", {"decision": "reject"}, "reviewer"),
    "branch": ("POST", "/api/v1/runs/{run}/result/branch", {"branch": ""}, "reviewer"),
    "deliveries": ("GET", "/api/v1/webhooks/deliveries", None, "viewer"),
    "send again": ("POST", "/api/v1/webhooks/deliveries/no-id/retry", None, "operator"),
    "cancel": ("POST", "/api/v1/runs/{run}/cancel", {}, "operator"),
}
ROLES = ("viewer", "operator", "reviewer", "admin")


@pytest.mark.parametrize(("method", "path", "body", "needed"), NEEDS.values(), ids=NEEDS.keys())
async def test_roles(
    guarded: Api, tokens: dict[str, str], method: str, path: str, body: dict[str, Any] | None, needed: str
) -> None:
    for role in ROLES:
        run_id, escalation_id, _ = await guarded.rows.waiting()
        where = path.format(run=run_id, escalation=escalation_id)
        # A name in a header counts for nothing where tokens are needed.
        headers = {"Authorization": f"Bearer {tokens[role]}", "X-PhaseRunner-User": "root"}
        response = await guarded.client.request(method, where, json=body, headers=headers)
        if ROLES.index(role) < ROLES.index(needed):
            assert response.status_code == 403, role
            assert needed in problem_of(response)["detail"]
        else:
            assert response.status_code in (200, 201, 422), (role, response.text)


async def test_a_caller_is_shown_their_name_and_role(guarded: Api, tokens: dict[str, str]) -> None:
    for role in ROLES:
        response = await guarded.client.get(
            "/api/v1/me", headers={"Authorization": f"Bearer {tokens[role]}", "X-PhaseRunner-User": "root"}
        )
        assert response.json() == {"name": f"{role} of this module", "role": role}
    assert (await guarded.client.get("/api/v1/me")).status_code == 401


async def test_who_acts_is_the_tokens_name(guarded: Api, tokens: dict[str, str]) -> None:
    _, escalation_id, _ = await guarded.rows.waiting()
    response = await guarded.client.post(
        f"/api/v1/escalations/{escalation_id}/resolve",
        json={"decision": "reject"},
        headers={"Authorization": f"bearer {tokens['reviewer']}", "X-PhaseRunner-User": "root"},
    )
    assert response.json()["decided_by"] == "reviewer of this module"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic YTpi", "Bearer \xff\xfe"])
async def test_without_a_token(guarded: Api, header: str) -> None:
    headers = [(b"Authorization", header.encode("latin-1"))] if header else []
    response = await guarded.client.get(f"/api/v1/runs/{uuid4()}", headers=headers)
    assert response.status_code == 401
    assert problem_of(response)["type"].endswith("unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_token_in_a_url_is_not_taken_over_http(guarded: Api, tokens: dict[str, str]) -> None:
    response = await guarded.client.get("/api/v1/sprints", params={"token": tokens["viewer"]})
    assert response.status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/", "/openapi.json"])
async def test_open_places(guarded: Api, path: str) -> None:
    assert (await guarded.client.get(path)).status_code == 200


async def test_probes_come_by_any_address(guarded: Api) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await guarded.client.get(path, headers={"Host": "10.0.0.7:8000"})).status_code == 200


async def test_sockets_and_tokens(guarded: Api, tokens: dict[str, str]) -> None:
    token = tokens["viewer"]
    ways: list[dict[str, Any]] = [
        {"headers": [("authorization", f"Bearer {token}")]},
        {"query": f"after=3&token={token}"},
        {"subprotocols": ["phaserunner", f"bearer.{token}"]},
    ]
    for way in ways:
        sent, scope = await converse(guarded.app, **way)
        assert sent[0]["type"] == "websocket.accept"
        assert all(each.get("code") != 4401 for each in sent)
        assert sent[0].get("subprotocol") == ("phaserunner" if "subprotocols" in way else None)
        assert token.encode() not in scope["query_string"], "no log gets to see it"
    assert scope["query_string"] in (b"", b"after=3")

    for way in ({}, {"query": "token=wrong"}, {"subprotocols": ["phaserunner", "bearer.wrong"]}):
        sent, _ = await converse(guarded.app, **way)
        assert [each["type"] for each in sent] == ["websocket.accept", "websocket.close"]
        assert sent[1]["code"] == 4401


@pytest.mark.parametrize("path", ["/api/v1/ws", "/api/v1/ws/runs/{run}", "/api/v1/ws/sprints/{run}"])
async def test_an_open_socket_is_closed_when_its_token_is_revoked(
    path: str, guarded: Api, tokens: dict[str, str]
) -> None:
    name = f"for {path}"
    token = await guarded.tokens.create(name, "viewer")
    place = path.format(run=await guarded.rows.run())
    async with (
        holding(guarded.app, place, token) as (first, first_ended),
        holding(guarded.app, place, token) as (second, second_ended),
        holding(guarded.app, place, tokens["viewer"]) as (other, _),
    ):
        assert [each.code() for each in (first, second, other)] == [None] * 3
        await guarded.tokens.revoke(name)
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([first_ended, second_ended])
        assert [each.code() for each in (first, second, other)] == [4401, 4401, None]


async def test_a_stream_ends_when_its_token_is_revoked(guarded: Api) -> None:
    token = await guarded.tokens.create("for a stream", "viewer")
    path = f"/api/v1/runs/{await guarded.rows.run()}/events"
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    hub: Hub = guarded.app.state.hub
    before = hub.connections
    reading = asyncio.create_task(guarded.client.get(path, headers=headers))
    async with asyncio.timeout(PATIENCE):
        while hub.connections == before:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.005)
        await guarded.tokens.revoke("for a stream")
        assert (await reading).status_code == 200
        assert (await guarded.client.get(path, headers=headers)).status_code == 401


async def test_an_open_socket_without_a_token_is_closed_when_tokens_are_needed(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        open_api(database_url, tmp_path, tokens_needed=None) as api,
        holding(api.app, "/api/v1/ws", "") as (held, ended),
    ):
        assert held.code() is None
        await api.tokens.create("the first one", "admin")
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([ended])
        assert held.code() == 4401


async def test_every_answer_forbids_what_browsers_should_not_do(api: Api) -> None:
    for path in ("/", "/api/v1/sprints", "/nowhere"):
        headers = (await api.client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    page = (await api.client.get("/")).text
    assert "http://" not in page.replace(HERE, "")
    assert "https://" not in page


async def test_a_token_made_while_the_service_runs_counts_at_once(database_url: str, tmp_path: Path) -> None:
    async with open_api(database_url, tmp_path, tokens_needed=None) as opened:
        assert (await opened.client.get("/api/v1/sprints")).status_code == 200
        token = await opened.tokens.create("ada", "viewer")
        assert (await opened.client.get("/api/v1/sprints")).status_code == 401
        assert (await opened.client.get("/healthz")).status_code == 200
        shown = {"Authorization": f"Bearer {token}"}
        assert (await opened.client.get("/api/v1/sprints", headers=shown)).status_code == 200


async def test_a_database_that_is_away(tmp_path: Path) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    async with open_api(nowhere, tmp_path) as opened:
        for method, path in (("GET", "/api/v1/sprints"), ("GET", f"/api/v1/runs/{uuid4()}/events")):
            response = await opened.client.request(method, path)
            assert response.status_code == 503
            assert problem_of(response)["type"].endswith("unavailable")
        ready = await opened.client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert (await opened.client.get("/healthz")).status_code == 200
    async with open_api(nowhere, tmp_path, tokens_needed=True) as opened:
        response = await opened.client.get("/api/v1/sprints", headers={"Authorization": "Bearer x"})
        assert response.status_code == 503, "nobody is told that a token is wrong when it cannot be checked"
        sent, _ = await converse(opened.app, query="token=x")
        assert sent[-1]["code"] == 1012
