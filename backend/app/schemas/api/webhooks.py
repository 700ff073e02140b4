"""Webhook deliveries in the API."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

DeliveryStatus = Literal["pending", "delivered", "failed"]


class DeliveryView(BaseModel):
    """The delivery of one event to one receiver."""

    model_config = ConfigDict(frozen=True)

    id: UUID = Field(description="The `webhook-id` that receivers get, the same for each try.")
    run_id: UUID
    sequence: int = Field(description="The sequence of the event.")
    event: str
    receiver: str = Field(description="Scheme and host of the address; the rest can be secret.")
    status: DeliveryStatus = Field(description="`failed` after the last try.")
    tries: int
    last_error: str = Field(description="Why the last try failed; empty if none did.")
    next_at: datetime | None = Field(description="The time of the next try; null if there is none.")
    created_at: datetime
    finished_at: datetime | None


class DeliveryPage(BaseModel):
    """A page of deliveries, newest first; `next_cursor` is null on the last page."""

    items: list[DeliveryView]
    next_cursor: str | None
