"""The operator's file of notifications: receivers, the mail server, and decision links."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import ErrorDetails

from app.core.addresses import can_be_host
from app.core.secret_references import SecretReference
from app.core.security import is_loopback
from app.core.toml_document import Complaint, TomlDocument, place_of
from app.core.websocket_events import FINAL_EVENT_TYPES, SprintEventType

DEFAULT_LINK_HOURS = 72.0

Topic = Literal["escalation", "reminder", "result", "budget"]

TOPICS: dict[Topic, frozenset[SprintEventType]] = {
    "escalation": frozenset({SprintEventType.ESCALATION_REQUIRED}),
    "reminder": frozenset({SprintEventType.ESCALATION_REMINDER}),
    "result": FINAL_EVENT_TYPES,
    "budget": frozenset({SprintEventType.BUDGET_WARNING}),
}
"""The events of each topic."""

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
_Mailbox = Annotated[
    str, StringConstraints(pattern=r"^[^\s@<>,;:\"()\[\]\\]+@[A-Za-z0-9.-]+$", max_length=254)
]
_Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.:-]+$", max_length=253)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DecisionLinks(_Strict):
    """Links that accept or reject escalations.

    Attributes:
        secret: signs the links; a new secret invalidates all links that were sent.
        hours: how long a link can be used.
    """

    secret: SecretReference
    hours: float = Field(default=DEFAULT_LINK_HOURS, gt=0, le=24 * 90)


class MailServer(_Strict):
    """The server that sends e-mail.

    Attributes:
        security: `starttls` and `tls` encrypt and check the certificate; `none` is only for
            servers on this machine.
        authorities: a file with certificates of authorities, in addition to those of the system.
        sender: the address that messages come from.
    """

    host: _Host
    port: int = Field(default=587, ge=1, le=65_535)
    security: Literal["starttls", "tls", "none"] = "starttls"
    authorities: Path | None = None
    username: str | None = Field(default=None, min_length=1, max_length=254)
    password: SecretReference | None = None
    sender: _Mailbox

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if not can_be_host(self.host):
            raise ValueError(f"{self.host!r} is not a valid host name")
        if self.security == "none" and not is_loopback(self.host):
            raise ValueError('security "none" is only for a server on this machine')
        if (self.username is None) != (self.password is None):
            raise ValueError("give username and password together")
        return self


class _Receiver(_Strict):
    events: list[Topic] = Field(default=["escalation", "reminder", "result"], min_length=1)
    decide: bool = False

    @property
    def event_types(self) -> frozenset[SprintEventType]:
        """Return the events that this receiver gets."""
        return frozenset[SprintEventType]().union(*(TOPICS[each] for each in self.events))


class ChatReceiver(_Receiver):
    """A chat's incoming webhook.

    Attributes:
        url: where its address is, which is a secret.
        decide: whether to add links with which everyone who reads the chat can accept or reject escalations.
    """

    kind: Literal["slack", "teams", "discord"]
    url: SecretReference


class MailReceiver(_Receiver):
    """People who get e-mail.

    Attributes:
        to: their addresses; each message shows all of them.
        decide: whether to add links with which everyone who reads the e-mail can
            accept or reject escalations.
    """

    kind: Literal["email"]
    to: list[_Mailbox] = Field(min_length=1, max_length=50)


Receiver = Annotated[ChatReceiver | MailReceiver, Field(discriminator="kind")]


class NotificationsFile(_Strict):
    """The operator's file of notifications.

    Attributes:
        page: base URL of this service's pages, for links.
    """

    page: str | None = None
    links: DecisionLinks | None = None
    smtp: MailServer | None = None
    receivers: dict[_Name, Receiver] = {}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.page is not None and not _is_safe(self.page):
            raise ValueError("page: must begin with https:// and hold no password")
        for name, each in self.receivers.items():
            if isinstance(each, MailReceiver) and self.smtp is None:
                raise ValueError(f"receivers.{name}.kind: e-mail needs [smtp]")
            if each.decide and (self.links is None or self.page is None):
                raise ValueError(f"receivers.{name}.decide: needs page and [links]")
        return self


def load_notifications(path: Path | None) -> NotificationsFile:
    """Read the operator's file; without one, people get no notifications.

    Raises:
        InvalidInputError: the file cannot be read, is not TOML, or has an invalid value; the
            message names line and key.
    """
    return NotificationsFile() if path is None else _DOCUMENT.load(path)


def parse_notifications(text: str, name: str) -> NotificationsFile:
    """Read the file's text; `name` is its name in errors.

    Raises:
        InvalidInputError: as in `load_notifications`.
    """
    return _DOCUMENT.parse(text, name)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    return NotificationsFile.model_json_schema()


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    return (parts.scheme == "https" or here) and bool(parts.hostname) and "@" not in parts.netloc


def _complaint(error: ErrorDetails) -> Complaint:
    kinds = ("slack", "teams", "discord", "email")
    place = tuple(each for each in place_of(error) if each not in kinds)
    message = error["msg"].removeprefix("Value error, ")
    if not place:  # an error of the whole file names the key in its message
        key, _, message = message.partition(": ")
        place = tuple(key.split("."))
    if error["type"] == "extra_forbidden":
        message = "is not known here"
    return Complaint(place, message)


_DOCUMENT = TomlDocument(NotificationsFile, "NOTIFICATIONS_FILE", _complaint)
