"""What is polled from forges whose webhooks do not reach the service: labels and comments since a time.

Results have the form of deliveries, so that they are recorded, checked and handled in the same way.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

logger = logging.getLogger(__name__)

MAX_PAGES = 100
"""How many pages of 100 items a poll reads of a list. GitHub itself ends its lists after about 300."""


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


def warn_of_rest(repository: str, what: str) -> None:
    """Log that a poll does not read a list to its end; later polls do not read the rest either."""
    logger.warning(
        "%s has more new %s than a poll reads (%d pages); repeat labels and commands that had no effect",
        repository,
        what,
        MAX_PAGES,
    )


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
