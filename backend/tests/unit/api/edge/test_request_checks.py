"""Who is let in while no token exists, and what a refused request leaves in its address."""

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from app.api.edge.request_checks import RequestChecks
from app.core.security import Principal

pytestmark = pytest.mark.anyio


async def _application(scope: Scope, receive: Receive, send: Send) -> None:
    principal: Principal = scope["principal"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": principal.role.value.encode()})


async def _recognise(token: str) -> Principal | None:
    return None


async def _not_needed() -> bool:
    return False


async def _needed() -> bool:
    return True


CHECKS = RequestChecks(_application, ["tea.example"], _recognise, _not_needed)


async def asked(headers: dict[str, str]) -> httpx.Response:
    transport = httpx.ASGITransport(CHECKS)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        return await client.get("/api/v1/runs", headers=headers)


async def test_this_machine_needs_no_token_while_there_is_none() -> None:
    answer = await asked({})
    assert (answer.status_code, answer.text) == (200, "admin")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Host": "tea.example"}, id="another-name"),
        pytest.param({"X-Forwarded-For": "203.0.113.7"}, id="nginx"),
        pytest.param({"Forwarded": "for=203.0.113.7"}, id="rfc-7239"),
        pytest.param({"X-Real-IP": "203.0.113.7"}, id="real-ip"),
        pytest.param({"Via": "1.1 caddy"}, id="caddy"),
    ],
)
async def test_who_comes_through_a_proxy_is_no_admin(headers: dict[str, str]) -> None:
    answer = await asked(headers)
    assert answer.status_code == 401
    assert "phaserunner tokens create" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("token", "words"),
    [
        pytest.param("", "send a token: Authorization: Bearer TOKEN", id="none"),
        pytest.param("pr_old", "the token is wrong, expired or revoked", id="unknown"),
    ],
)
async def test_a_refused_request_says_whether_it_had_a_token(token: str, words: str) -> None:
    checks = RequestChecks(_application, ["tea.example"], _recognise, _needed)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(checks), base_url="http://tea.example"
    ) as client:
        given = {"Authorization": f"Bearer {token}"} if token else {}
        answer = await client.get("/api/v1/runs", headers=given)
    assert (answer.status_code, answer.json()["detail"]) == (401, words)


@pytest.mark.parametrize("more", [[], [(b"authorization", b"Bearer pr_secret")]], ids=["alone", "twice"])
async def test_a_refused_page_leaves_no_token_in_the_address(more: list[tuple[bytes, bytes]]) -> None:
    scope: Scope = {
        "type": "websocket",
        "path": "/api/v1/ws",
        "query_string": b"after=3&token=pr_secret",
        "headers": [(b"host", b"127.0.0.1:8000"), (b"origin", b"https://evil.example"), *more],
        "subprotocols": [],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await CHECKS(scope, receive, send)
    assert sent[-1]["code"] == 4403
    assert scope["query_string"] == b"after=3"
