"""Messages to other services: signed, sent again until they are taken, never elsewhere."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import asyncpg
import pytest
from anyio.abc import SocketAttribute, SocketStream
from sqlalchemy import select, text

from app.db.models import WebhookDelivery
from app.services.chores.webhooks import MAX_TRIES, WebhookService, pause_after
from app.services.control.cancelling import CancelService
from app.services.record.outbox import Outbox
from app.webhooks.sending import WebhookError, WebhookSender
from tests.certificates import serving_https
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio

KEY = b"k" * 32


@dataclass
class Receiver:
    """A service that is told things, on loopback."""

    port: int = 0
    answers: list[str] = field(default_factory=list[str])
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list[tuple[dict[str, str], bytes]])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def handle(self, stream: SocketStream) -> None:
        async with stream:
            data = b""
            while b"\r\n\r\n" not in data:
                data += await stream.receive()
            head, _, body = data.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")[1:]
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            while len(body) < int(headers["content-length"]):
                body += await stream.receive()
            self.requests.append((headers, body))
            answer = self.answers.pop(0) if self.answers else "200 OK"
            await stream.send(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n".encode())


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    found = Receiver(listener.extra(SocketAttribute.local_port))
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, found.handle)
        yield found
        group.cancel_scope.cancel()


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


@asynccontextmanager
async def delivering(cases: UseCases, receiver: Receiver) -> AsyncGenerator[WebhookService]:
    async with WebhookSender(KEY, allow_private=True) as sender:
        yield WebhookService(cases.sessions, (receiver.url,), sender)


async def cancelled_run(cases: UseCases, *urls: str) -> None:
    """A run whose end is told."""
    cancels = CancelService(cases.sessions, cases.bell, Outbox(urls))
    await cancels.cancel(await cases.rows.run(), "enough", "ada")


async def deliveries(cases: UseCases) -> list[WebhookDelivery]:
    async with cases.sessions() as session:
        return list(await session.scalars(select(WebhookDelivery)))


async def time_passes(cases: UseCases) -> None:
    async with cases.sessions.begin() as session:
        await session.execute(text("UPDATE webhook_deliveries SET next_at = now() - interval '1 second'"))


async def test_a_message_says_what_happened_and_is_signed(cases: UseCases, receiver: Receiver) -> None:
    await cancelled_run(cases, receiver.url)
    async with delivering(cases, receiver) as deliver:
        assert await deliver() == 1
        assert await deliver() == 0
    (headers, body) = receiver.requests[0]
    message = json.loads(body)
    assert (message["event"], message["data"]) == ("run.cancelled", {"by": "ada", "reason": "enough"})
    assert (message["sequence"], message["run"]["status"]) == (1, "cancelled")
    (row,) = await deliveries(cases)
    assert (row.status, row.tries) == ("delivered", 1)
    signed = f"{row.id}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == str(row.id)
    assert headers["host"] == f"127.0.0.1:{receiver.port}"


REFUSALS = {
    "a server error": ("500 Oops", "answered 500"),
    "a redirect": ("302 Found\r\nLocation: http://127.0.0.1:1/", "redirect, which is not followed"),
}


@pytest.mark.parametrize(("answer", "told"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_is_not_taken_is_sent_again_under_the_same_id(
    cases: UseCases, receiver: Receiver, answer: str, told: str
) -> None:
    receiver.answers = [answer]
    await cancelled_run(cases, receiver.url)
    async with delivering(cases, receiver) as deliver:
        assert await deliver() == 1
        (row,) = await deliveries(cases)
        assert (row.status, row.tries) == ("pending", 1)
        assert told in row.last_error
        assert await deliver() == 0, "not before the pause is over"
        await time_passes(cases)
        assert await deliver() == 1
    (row,) = await deliveries(cases)
    assert (row.status, row.tries, row.last_error) == ("delivered", 2, "")
    assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 1


async def test_it_is_given_up_in_the_end(cases: UseCases, receiver: Receiver) -> None:
    receiver.answers = ["503 Later"] * MAX_TRIES
    await cancelled_run(cases, receiver.url)
    async with delivering(cases, receiver) as deliver:
        for _ in range(MAX_TRIES):
            await time_passes(cases)
            await deliver()
        await time_passes(cases)
        assert await deliver() == 0
    (row,) = await deliveries(cases)
    assert (row.status, row.tries) == ("failed", MAX_TRIES)
    assert [pause_after(tries) for tries in (1, 2, 3, MAX_TRIES)] == [5, 20, 80, 21_600]


async def test_many_workers_send_each_message_once(cases: UseCases, receiver: Receiver) -> None:
    for _ in range(12):
        await cancelled_run(cases, receiver.url)
    async with delivering(cases, receiver) as deliver:
        assert sum(await at_once(*(deliver() for _ in range(4)))) == 12
    assert len(receiver.requests) == 12


async def test_without_addresses_nothing_is_kept(cases: UseCases) -> None:
    await cancelled_run(cases)
    assert await deliveries(cases) == []


async def test_messages_to_addresses_that_are_not_set_any_more_are_left(
    cases: UseCases, receiver: Receiver
) -> None:
    await cancelled_run(cases, "https://old.example.org")
    async with delivering(cases, receiver) as deliver:
        assert await deliver() == 0
    assert [each.status for each in await deliveries(cases)] == ["pending"]


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("https://hooks..example.org/run", id="an empty part of a name"),
        pytest.param(f"https://{'a' * 64}.example.org/run", id="a part of 64 characters"),
        pytest.param("https://hooks.example.org/\x01", id="no URL"),
    ],
)
async def test_an_address_that_cannot_be_looked_up_is_said(address: str) -> None:
    async with WebhookSender(KEY, allow_private=True) as sender:
        with pytest.raises(WebhookError, match=r"UnicodeError|InvalidURL"):
            await sender(address, "id", b"{}")


async def test_a_restart_of_the_database_during_a_request_sends_no_message_twice(
    cases: UseCases, database_url: str
) -> None:
    sent: list[str] = []

    async def send(url: str, message_id: str, body: bytes) -> None:
        sent.append(message_id)
        connection = await asyncpg.connect(database_url)
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await connection.close()

    await cancelled_run(cases, "https://a.test")
    deliver = WebhookService(cases.sessions, ("https://a.test",), send)
    assert await deliver() == 1
    (row,) = await deliveries(cases)
    assert (row.status, sent) == ("delivered", [str(row.id)])


async def test_a_message_that_cannot_be_sent_costs_no_other_one(
    cases: UseCases, caplog: pytest.LogCaptureFixture
) -> None:
    strange, usual = "https://strange.example/hook", "https://usual.example/hook"
    for _ in range(3):
        await cancelled_run(cases, strange, usual)
    sent: list[str] = []

    async def send(url: str, message_id: str, body: bytes) -> None:
        if url == strange:
            raise ValueError("not foreseen")
        sent.append(message_id)

    deliver = WebhookService(cases.sessions, (strange, usual), send)
    assert await deliver() == 6
    for _ in range(MAX_TRIES):
        await time_passes(cases)
        await deliver()
    assert len(sent) == len(set(sent)) == 3, "each of the others is sent once"
    rows = {each.url: (each.status, each.tries, each.last_error) for each in await deliveries(cases)}
    reason = "an internal error, ValueError; the worker's log has more"
    assert rows == {usual: ("delivered", 1, ""), strange: ("failed", MAX_TRIES, reason)}
    assert "not foreseen" in caplog.text


async def test_a_name_of_a_private_address_is_not_asked(receiver: Receiver) -> None:
    async with WebhookSender(KEY, allow_private=False) as sender:
        with pytest.raises(WebhookError, match="not a public address"):
            await sender(f"https://localhost:{receiver.port}/hook", "id", b"{}")
    assert receiver.requests == []


async def test_a_proxy_is_asked_by_name_and_private_addresses_are_not(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", receiver.url)
    monkeypatch.setenv("NO_PROXY", "elsewhere.invalid")
    monkeypatch.delenv("no_proxy", raising=False)
    async with WebhookSender(KEY, allow_private=False) as sender:
        # The proxy knows a name that this machine does not.
        await sender("http://hooks.invalid/run", "id", b"{}")
        ((headers, body),) = receiver.requests
        assert (headers["host"], body) == ("hooks.invalid", b"{}")
        with pytest.raises(WebhookError, match="not a public address"):
            await sender("http://localhost/run", "id", b"{}")
        with pytest.raises(WebhookError, match="gaierror"):
            await sender("http://elsewhere.invalid/run", "id", b"{}")
    assert len(receiver.requests) == 1


async def test_an_authority_of_the_environment_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_https(tmp_path) as (address, trusted):
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        async with WebhookSender(KEY, allow_private=True) as sender:
            with pytest.raises(WebhookError, match="answered 501"):
                await sender(f"{address}/hook", "id", b"{}")


async def test_who_does_not_answer_costs_a_try(cases: UseCases) -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
    await cancelled_run(cases, url)
    async with listener, WebhookSender(KEY, allow_private=True, timeout=0.05) as sender:
        assert await WebhookService(cases.sessions, (url,), sender)() == 1
    (row,) = await deliveries(cases)
    assert (row.status, row.last_error) == ("pending", "no answer within 0.05 s")


async def test_a_message_that_is_on_its_way_when_the_process_stops_is_sent_once(cases: UseCases) -> None:
    url, on_its_way, taken = "https://hooks.example", asyncio.Event(), asyncio.Event()

    async def send(_url: str, _message_id: str, _body: bytes) -> None:
        on_its_way.set()
        await taken.wait()

    await cancelled_run(cases, url)
    chore = asyncio.create_task(WebhookService(cases.sessions, (url,), send)())
    await on_its_way.wait()
    chore.cancel()
    await asyncio.sleep(0)
    taken.set()
    with pytest.raises(asyncio.CancelledError):
        await chore
    (row,) = await deliveries(cases)
    assert (row.status, row.tries) == ("delivered", 1)
