"""Notifies people in chats and by e-mail of escalations and results, with the evidence of failures."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from app.core.credentials import Credentials
from app.core.errors import InvalidInputError, NotFoundError, UnavailableError
from app.core.events.types import SprintEventType
from app.core.security import Role
from app.db.models import EventRow
from app.notifications.chats import FORMATS
from app.notifications.links import DecisionLink, sign_link
from app.notifications.mail import message_of
from app.notifications.notice import (
    MAX_EVIDENCE,
    MAX_EXCERPT_CHARS,
    MAX_REASON_CHARS,
    MAX_TITLE_CHARS,
    Notice,
    NoticeEvidence,
    block_of,
    line_of,
)
from app.notifications.operator_file import ChatReceiver, MailReceiver, NotificationsFile
from app.notifications.sending import OpenClient, ReceiverReply, chat_client, post_to_chat, send_mail
from app.schemas.api.attempts import AttemptView
from app.schemas.api.escalations import EscalationView
from app.schemas.api.notifications import NotificationTest, ReceiverList, ReceiverView
from app.schemas.api.run_details import RunDetail
from app.schemas.runs import EscalationDecision, RunKind
from app.services.read.runs import RunQueries
from app.webhooks.sending import WebhookError

_HEADLINES: Mapping[str, str] = {
    SprintEventType.ESCALATION_REQUIRED: "A person is asked",
    SprintEventType.ESCALATION_REMINDER: "Still waiting for a person",
    SprintEventType.WORKFLOW_COMPLETED: "Completed",
    SprintEventType.WORKFLOW_FAILED: "Failed",
    SprintEventType.RUN_CANCELLED: "Cancelled",
    SprintEventType.BUDGET_WARNING: "80 % of a budget is spent",
}
_ABOUT_FAILURE = frozenset(
    {
        SprintEventType.ESCALATION_REQUIRED,
        SprintEventType.ESCALATION_REMINDER,
        SprintEventType.WORKFLOW_FAILED,
    }
)
_PAGES = {RunKind.DIRECTOR_LOOP: "loops", RunKind.ANSWER: "answers"}
_TEST = Notice(
    title="PhaseRunner: a test",
    reason="Somebody ran `phaserunner notify test`. Nothing waits for you.",
    evidence=(NoticeEvidence("example", "failed", "1 of 2 tests failed"),),
)


class NotificationService:
    """Sends notifications, and tests receivers.

    Args:
        queries: reads runs.
        file: the operator's file of receivers.
        credentials: read the file's secrets.
        open_client: makes the HTTP client for one message to a chat.
    """

    def __init__(
        self,
        queries: RunQueries,
        file: NotificationsFile,
        credentials: Credentials,
        open_client: OpenClient = chat_client,
    ) -> None:
        self._queries = queries
        self._file = file
        self._credentials = credentials
        self._open_client = open_client

    def receivers(self) -> ReceiverList:
        """List the receivers of the operator's file."""
        found = self._file.receivers.items()
        return ReceiverList(
            items=[
                ReceiverView(name=name, kind=each.kind, events=each.events, decide=each.decide)
                for name, each in found
            ]
        )

    async def __call__(self, name: str, message_id: UUID, event: EventRow) -> None:
        """Notify a receiver of an event.

        Raises:
            WebhookError: the receiver did not accept the notification.
        """
        receiver = self._file.receivers.get(name)
        if receiver is None:
            raise WebhookError(f"there is no receiver {name!r} in NOTIFICATIONS_FILE any more")
        run = await self._queries.get(event.run_id)
        try:
            await self._send(receiver, message_id, self._notice(name, event, run))
        except UnavailableError as error:
            raise WebhookError(error.detail) from error

    async def test(self, name: str) -> NotificationTest:
        """Send a test message to a receiver and return the receiver's response.

        Raises:
            NotFoundError: there is no such receiver.
        """
        receiver = self._file.receivers.get(name)
        if receiver is None:
            known = ", ".join(self._file.receivers) or "none; set NOTIFICATIONS_FILE"
            raise NotFoundError(f"there is no receiver {name!r}; the receivers are: {known}")
        try:
            answer = await self._send(receiver, uuid4(), _TEST)
        except (WebhookError, UnavailableError) as error:
            return NotificationTest(receiver=name, taken=False, code=None, answer=str(error))
        return NotificationTest(receiver=name, taken=True, code=answer.code, answer=answer.text)

    async def _send(
        self, receiver: ChatReceiver | MailReceiver, message_id: UUID, notice: Notice
    ) -> ReceiverReply:
        if isinstance(receiver, ChatReceiver):
            url = self._credentials.secret(receiver.url.place, "the url of the receiver")
            return await post_to_chat(self._open_client, url, FORMATS[receiver.kind](notice))
        server = self._file.smtp
        assert server is not None  # noqa: S101 - the file is refused without a server
        password = None
        if server.password is not None:
            password = self._credentials.secret(server.password.place, "smtp.password")
        message = message_of(notice, sender=server.sender, to=receiver.to, message_id=message_id)
        return await send_mail(server, password, receiver.to, message)

    def _notice(self, name: str, event: EventRow, run: RunDetail) -> Notice:
        asked = _open_escalation(run, event)
        headline = _headline(event, run)
        attempt = _attempt_of(run, event)
        told = {"accept": None, "reject": None} if asked is None else self._links(name, run, asked)
        return Notice(
            title=line_of(f"{headline}: {run.name}", MAX_TITLE_CHARS),
            reason=line_of(_reason(event, run, asked), MAX_REASON_CHARS),
            facts=_facts(run, event),
            evidence=_evidence(attempt) if event.type in _ABOUT_FAILURE else (),
            page=self._page(run, asked),
            **told,
        )

    def _page(self, run: RunDetail, asked: EscalationView | None) -> str | None:
        if self._file.page is None:
            return None
        kind = "escalations" if asked else _PAGES.get(run.kind, "sprints")
        path = f"{kind}/{asked.id if asked else run.id}"
        return f"{self._file.page.rstrip('/')}/{path}"

    def _links(self, name: str, run: RunDetail, asked: EscalationView) -> dict[str, str | None]:
        links, page = self._file.links, self._file.page
        if not self._file.receivers[name].decide or links is None or page is None:
            return {"accept": None, "reject": None}
        secret = self._credentials.secret(links.secret.place, "links.secret")
        has_output = any(
            (each.phase, each.number) == (asked.phase, asked.attempt) and each.head_commit
            for each in run.attempts
        )

        def address(decision: EscalationDecision) -> str:
            link = DecisionLink(
                escalation_id=asked.id,
                version=asked.version,
                decision=decision,
                role=Role.REVIEWER,
                receiver=name,
                expires_at=datetime.now(UTC) + timedelta(hours=links.hours),
            )
            try:
                return f"{page.rstrip('/')}/decide/{sign_link(link, secret)}"
            except ValueError as error:
                raise WebhookError(str(error)) from error

        accept = address(EscalationDecision.ACCEPT) if has_output else None
        return {"accept": accept, "reject": address(EscalationDecision.REJECT)}


def check_link_secret(file: NotificationsFile, credentials: Credentials) -> None:
    """Check at start-up that decision links can be signed.

    Raises:
        InvalidInputError: the secret is missing or too short.
    """
    if file.links is None:
        return
    probe = DecisionLink(
        escalation_id=UUID(int=0),
        version=1,
        decision=EscalationDecision.REJECT,
        role=Role.REVIEWER,
        receiver="probe",
        expires_at=datetime.now(UTC),
    )
    try:
        sign_link(probe, credentials.secret(file.links.secret.place, "links.secret"))
    except (ValueError, UnavailableError) as error:
        raise InvalidInputError(f"links.secret: {error}", field="NOTIFICATIONS_FILE") from error


def _headline(event: EventRow, run: RunDetail) -> str:
    if event.type != SprintEventType.WORKFLOW_COMPLETED or run.kind is not RunKind.SPRINT:
        return _HEADLINES.get(event.type, event.type)
    return "Accepted by a person" if run.accepted_by else "Passed"


def _evidence(attempt: AttemptView | None) -> Sequence[NoticeEvidence]:
    """Return the findings of an attempt's evaluators that did not pass; gates come first."""
    if attempt is None:
        return ()
    failed = [each for each in attempt.evaluations if each.status in ("failed", "errored")]
    failed.sort(key=lambda each: not each.gate)
    return [
        NoticeEvidence(
            line_of(each.evaluator, MAX_TITLE_CHARS), each.status, block_of(each.feedback, MAX_EXCERPT_CHARS)
        )
        for each in failed[:MAX_EVIDENCE]
    ]


def _attempt_of(run: RunDetail, event: EventRow) -> AttemptView | None:
    judged = [each for each in run.attempts if each.evaluations]
    of_event = [each for each in judged if (each.phase, each.number) == (event.phase, event.attempt)]
    return next(iter(of_event), judged[-1] if judged else None)


def _open_escalation(run: RunDetail, event: EventRow) -> EscalationView | None:
    """Return the escalation of an event if it is still open: a message may be sent hours later."""
    wanted = event.data.get("escalation_id")
    return next((each for each in run.escalations if str(each.id) == wanted and each.status == "open"), None)


def _reason(event: EventRow, run: RunDetail, asked: EscalationView | None) -> str:
    data: Mapping[str, Any] = event.data
    if event.type == SprintEventType.BUDGET_WARNING:
        spent = f"{data['spent']:g} of {data['budget']:g} {str(data['unit']).upper()}"
        return f"{spent} are spent. {data['setting']} sets this budget."
    told = str(data.get("reason") or run.status_reason or "All gates passed.")
    if "escalation_id" in data and asked is None:
        return f"{told} This has been decided in the meantime."
    return told


def _facts(run: RunDetail, event: EventRow) -> list[tuple[str, str]]:
    facts = [("Project", line_of(run.project, MAX_TITLE_CHARS))] if run.project else []
    if event.phase:
        attempt = f", attempt {event.attempt}" if event.attempt else ""
        facts.append(("Phase", f"{event.phase}{attempt}"))
    facts.append(("Agent", line_of(run.agent, MAX_TITLE_CHARS)))
    if run.usage.cost_usd is not None:
        facts.append(("Cost", f"${run.usage.cost_usd:.2f}"))
    facts.append(("Run", str(run.id)))
    return facts
