"""Receivers of notifications in the API, and their replies to tests."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ReceiverView(BaseModel):
    """A receiver of the operator's file, without its address."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: Literal["slack", "teams", "discord", "email"]
    events: list[Literal["escalation", "reminder", "result", "budget"]]
    decide: bool = Field(description="Its messages have links that accept or reject escalations.")


class ReceiverList(BaseModel):
    """All receivers."""

    items: list[ReceiverView]


class NotificationTest(BaseModel):
    """The reply of a receiver to a test."""

    model_config = ConfigDict(frozen=True)

    receiver: str
    taken: bool = Field(description="True if the receiver accepted the message.")
    code: int | None = Field(description="The HTTP or SMTP status; null if the message was not accepted.")
    answer: str = Field(description="The receiver's response, or why it cannot be reached.")
