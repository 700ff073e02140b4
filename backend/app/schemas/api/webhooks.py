"""Messages to other services, as the API speaks of them: what was sent, to whom, and what went wrong."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

DeliveryStatus = Literal["pending", "delivered", "failed"]


class DeliveryView(BaseModel):
    """One message about one event to one receiver."""

    model_config = ConfigDict(frozen=True)

    id: UUID = Field(description="What receivers get as `webhook-id`, the same each time it is sent.")
    run_id: UUID
    sequence: int = Field(description="The number of the event that it tells.")
    event: str
    receiver: str = Field(description="Scheme and host of the address; the rest of it may be a secret.")
    status: DeliveryStatus = Field(description="`failed`: given up after the last try.")
    tries: int
    last_error: str = Field(description="Why the last try failed; empty when none did.")
    next_at: datetime | None = Field(description="When it is sent next; null when it is not.")
    created_at: datetime
    finished_at: datetime | None


class DeliveryPage(BaseModel):
    """A page of messages, newest first; `next_cursor` is null on the last page."""

    items: list[DeliveryView]
    next_cursor: str | None
