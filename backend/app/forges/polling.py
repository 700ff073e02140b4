"""What forges are asked for where no webhook reaches the service: labels and comments since a time.

What is found has the form of a delivery. So it is recorded, checked and worked in the same way.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Found:
    """Something that happened.

    Attributes:
        event: kind of the delivery that would tell of it.
        payload: body of that delivery, as far as it is read.
        at: when it happened, by the forge's clock.
    """

    event: str
    payload: dict[str, Any]
    at: datetime


class PollForge(Protocol):
    """What polling needs of a forge. Every method may raise `ForgeError`."""

    async def labeled_since(
        self, repository: str, labels: Collection[str], since: datetime
    ) -> Sequence[Found]:
        """List when open issues got one of these labels."""
        ...

    async def commented_since(self, repository: str, since: datetime) -> Sequence[Found]:
        """List new comments on issues and pull requests."""
        ...
