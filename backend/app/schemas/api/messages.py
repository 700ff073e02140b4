"""Messages from people to the agent of a run."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from app.schemas.text import clean_text


class MessageMode(StrEnum):
    """When an agent receives a message.

    `STEER` delivers it before the agent's next model request if the agent supports that, or else at the end
    of its work. `QUEUE` delivers it at the end of its work. An agent that cannot continue then gets the
    message in its next attempt.
    """

    STEER = "steer"
    QUEUE = "queue"


class MessageStatus(StrEnum):
    """What became of a message. A message is refused if the run ends before it is delivered."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    REFUSED = "refused"


class MessageCreate(BaseModel):
    """A message to the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True),
        AfterValidator(clean_text),
    ]
    mode: MessageMode = MessageMode.STEER


class MessageView(BaseModel):
    """A message. `phase` and `attempt` are where it was delivered; `reason` says why it was refused."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    mode: MessageMode
    text: str
    status: MessageStatus
    reason: str
    phase: str | None
    attempt: int | None
    sent_by: str
    sent_at: datetime
    settled_at: datetime | None


class MessageList(BaseModel):
    """The messages of a run, oldest first."""

    model_config = ConfigDict(frozen=True)

    items: list[MessageView]
