"""Notifications reach chats and a real mail server, with evidence, through the outbox."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from sqlalchemy import select

from app.core.credentials import Credentials
from app.core.events.envelope import TypedEventData
from app.core.events.escalations import EscalationRequiredData
from app.core.events.runs import WorkflowCompletedData
from app.db.models import Run, WebhookDelivery
from app.notifications.operator_file import MailServer, NotificationsFile, parse_notifications
from app.notifications.sending import post_to_chat
from app.schemas.runs import Usage
from app.services.chores.notifications import NotificationService
from app.services.chores.webhooks import WebhookService
from app.services.record.outbox import NotificationSubscription, Outbox, notify_address
from app.services.record.transactions import Recording
from app.webhooks.sending import WebhookError
from tests.certificates import server_context
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@dataclass
class Chat:
    """A chat's incoming webhook on loopback, or a proxy: it answers whatever address is asked for."""

    url: str = ""
    answers: list[tuple[int, str, dict[str, str]]] = field(
        default_factory=list[tuple[int, str, dict[str, str]]]
    )
    asked: list[str] = field(default_factory=list[str])
    bodies: list[Any] = field(default_factory=list[Any])


@contextmanager
def serving_chat() -> Generator[Chat]:
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            chat.asked.append(self.path)
            chat.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            status, text, headers = chat.answers.pop(0) if chat.answers else (200, "ok", {})
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - a name of the library
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_port}/services/secret"
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Mailbox:
    """What the mail server took; it refuses the addresses in `unknown`."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list[EmailMessage])
    unknown: set[str] = field(default_factory=set[str])

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.unknown:
            return "550 5.1.1 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_QUIT(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        return "421 4.3.2 too busy to say goodbye"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert session.authenticated
        content = envelope.content
        assert isinstance(content, bytes)
        self.messages.append(message_from_bytes(content, policy=default))
        return "250 2.0.0 queued as 4711"


class _AnyPort(Controller):
    """The library's own check connects to the port that was asked for, which is none."""

    @property
    def bound(self) -> int:
        assert isinstance(self.server, asyncio.Server)
        return self.server.sockets[0].getsockname()[1]

    def _trigger_server(self) -> None:
        with socket.create_connection(("127.0.0.1", self.bound)) as connection:
            connection.recv(1024)


@contextmanager
def serving_mail(directory: Path) -> Generator[tuple[Mailbox, Path]]:
    """Run a mail server with STARTTLS and a login; gives it and the certificate to trust."""
    context, public = server_context(directory)

    def authenticate(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword
    ) -> AuthResult:
        known = (data.login, data.password) == (b"bot", b"hunter2")
        return AuthResult(success=known, handled=False)

    mailbox = Mailbox()
    controller = _AnyPort(
        mailbox,
        hostname="127.0.0.1",
        port=0,
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=authenticate,
    )
    controller.start()
    mailbox.port = controller.bound
    try:
        yield mailbox, public
    finally:
        controller.stop()


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


def notifications(cases: UseCases, file: NotificationsFile, **secrets: str) -> NotificationService:
    return NotificationService(cases.queries, file, Credentials(environ=secrets))


async def escalate(cases: UseCases, file: NotificationsFile) -> None:
    """Record an escalation as the engine does, with its messages."""
    run_id, escalation_id, _ = await cases.rows.waiting()
    data = EscalationRequiredData(
        escalation_id=escalation_id, reason_kind="attempts_exhausted", reason="3 of 3 attempts failed"
    )
    await record(cases, file, run_id, data)


async def record(cases: UseCases, file: NotificationsFile, run_id: UUID, data: TypedEventData) -> None:
    """Record an event with its messages."""
    people = tuple(
        NotificationSubscription(notify_address(n), r.event_types) for n, r in file.receivers.items()
    )
    async with cases.sessions.begin() as session:
        run = await session.get_one(Run, run_id)
        recording = Recording(session, run, Outbox(people=people))
        recording.tell(data, "coding", 1)
        await recording.flush_events()


async def deliver(cases: UseCases, file: NotificationsFile, **secrets: str) -> list[WebhookDelivery]:
    addresses = tuple(map(notify_address, file.receivers))
    await WebhookService(cases.sessions, addresses, None, notifications(cases, file, **secrets))()
    async with cases.sessions() as session:
        return list(await session.scalars(select(WebhookDelivery)))


CHATS = """
page = "https://p.example"
[links]
secret = { env = "LINKS" }
[receivers.team]
kind = "slack"
url = { env = "CHAT" }
decide = true
[receivers.accounts]
kind = "teams"
url = { env = "CHAT" }
events = ["budget"]
"""


async def test_an_escalation_reaches_a_chat_with_evidence_and_links(cases: UseCases) -> None:
    file = parse_notifications(CHATS, "n.toml")
    await escalate(cases, file)
    with serving_chat() as chat:
        (row,) = await deliver(cases, file, CHAT=chat.url, LINKS="x" * 32)
    assert (row.status, row.url) == ("delivered", "notify:team")
    text = json.dumps(chat.bodies[0])
    for part in ("A person is asked: a sprint", "1 of 2 tests failed", "https://p.example/escalations/"):
        assert part in text
    assert text.count("https://p.example/decide/") == 2


@pytest.mark.parametrize(
    ("decision", "title"), [("accept", "Accepted by a person: a sprint"), ("retry", "Passed: a sprint")]
)
async def test_the_title_of_a_result_says_whether_the_gates_passed_it(
    cases: UseCases, decision: str, title: str
) -> None:
    file = parse_notifications(CHATS, "n.toml")
    run_id = await cases.rows.run(status="completed")
    done = {"status": "resolved", "decision": decision, "decided_by": "ada", "decided_at": datetime.now(UTC)}
    await cases.rows.escalation(run_id, **done)
    data = WorkflowCompletedData(commit=None, attempts=1, usage=Usage(), reason="every phase passed")
    await record(cases, file, run_id, data)
    with serving_chat() as chat:
        await deliver(cases, file, CHAT=chat.url, LINKS="x" * 32)
    assert chat.bodies[0]["text"] == title


async def test_a_chat_that_asks_for_patience_gets_it(cases: UseCases) -> None:
    file = parse_notifications(CHATS, "n.toml")
    await escalate(cases, file)
    with serving_chat() as chat:
        chat.answers = [(429, "rate_limited", {"Retry-After": "600"})]
        (row,) = await deliver(cases, file, CHAT=chat.url, LINKS="x" * 32)
    assert (row.status, row.last_error) == ("pending", "answered 429: rate_limited")
    assert row.next_at > datetime.now(UTC) + timedelta(seconds=500)


async def test_the_test_shows_the_real_answer_and_no_secret(cases: UseCases) -> None:
    file = parse_notifications(CHATS, "n.toml")
    with serving_chat() as chat:
        service = notifications(cases, file, CHAT=chat.url)
        chat.answers = [(404, "no_service", {})]
        refused = await service.test("team")
        taken = await service.test("team")
    assert (refused.taken, refused.answer) == (False, "answered 404: no_service")
    assert (taken.taken, taken.code, taken.answer) == (True, 200, "ok")
    gone = await service.test("team")
    assert gone.answer == "the chat cannot be reached: ConnectError"
    missing = await notifications(cases, file).test("team")
    assert "CHAT is empty or not set" in missing.answer


async def test_a_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_chat() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")

        def open_client() -> httpx.AsyncClient:
            return httpx.AsyncClient(trust_env=True)

        await post_to_chat(open_client, "http://localhost:1/hook", {})
    assert proxy.asked == ["http://localhost:1/hook"]


async def test_clear_text_goes_nowhere_else() -> None:
    for address in ("http://chat.example/x", "ftp://chat.example", "http://[::1", ""):
        with pytest.raises(WebhookError, match="the address of the receiver"):
            await post_to_chat(httpx.AsyncClient, address, {})


async def test_an_address_without_a_valid_host_name_is_said() -> None:
    for address in ("https://.chat.example/x", "https://chat..example/x"):
        with pytest.raises(WebhookError, match="has no valid host name"):
            await post_to_chat(httpx.AsyncClient, address, {})


MAIL = """
page = "https://p.example"
[smtp]
host = "localhost"
port = {port}
security = "starttls"
authorities = "{authorities}"
username = "bot"
password = {{ env = "SMTP" }}
sender = "bot@p.example"
[receivers.people]
kind = "email"
to = ["ada@p.example", "ben@p.example"]
"""


async def test_an_escalation_reaches_people_by_email(cases: UseCases, tmp_path: Path) -> None:
    with serving_mail(tmp_path) as (mailbox, authorities):
        file = parse_notifications(MAIL.format(port=mailbox.port, authorities=authorities), "n.toml")
        await escalate(cases, file)
        mailbox.unknown = {"ben@p.example"}
        (row,) = await deliver(cases, file, SMTP="hunter2")
        assert row.last_error == "localhost answered 550: ben@p.example: 5.1.1 no such user"
        assert mailbox.messages == [], "to all of them or to none"
        mailbox.unknown.clear()
        answer = await notifications(cases, file, SMTP="hunter2").test("people")
        assert (answer.taken, answer.code, answer.answer) == (True, 250, "2.0.0 queued as 4711")
        wrong = await notifications(cases, file, SMTP="wrong").test("people")
        assert "535" in wrong.answer
        strange = await notifications(cases, file, SMTP="h\u00fcnter2").test("people")
        assert strange.answer == "username, password and addresses of e-mail must be ASCII"
        await check_trust(cases, file)
    assert mailbox.messages[0]["To"] == "ada@p.example, ben@p.example"
    assert "1 of 2 tests failed" in mailbox.messages[0].get_content()


async def check_trust(cases: UseCases, file: NotificationsFile) -> None:
    """A server with a certificate that no known authority signed gets neither login nor message."""
    assert isinstance(file.smtp, MailServer)
    trusting = file.smtp.model_copy(update={"authorities": None})
    unknown = await notifications(cases, file.model_copy(update={"smtp": trusting}), SMTP="hunter2").test(
        "people"
    )
    assert not unknown.taken
    assert "CERTIFICATE_VERIFY_FAILED" in unknown.answer
