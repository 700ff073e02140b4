"""What is polled from forges whose webhooks do not reach the service: labels and comments since a time.

Results have the form of deliveries, so that they are recorded, checked and handled in the same way.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class PolledEvent:
    """Something that happened.

    Attributes:
        event: the kind of delivery that would report it.
        payload: the needed parts of that delivery's body.
        at: when it happened, by the forge's clock.
    """

    event: str
    payload: dict[str, Any]
    at: datetime


class PollForge(Protocol):
    """What polling needs from a forge. Every method may raise `ForgeError`."""

    async def labeled_since(
        self, repository: str, labels: Collection[str], since: datetime
    ) -> Sequence[PolledEvent]:
        """List the additions of one of these labels to open issues."""
        ...

    async def commented_since(self, repository: str, since: datetime) -> Sequence[PolledEvent]:
        """List new comments on issues and pull requests."""
        ...
