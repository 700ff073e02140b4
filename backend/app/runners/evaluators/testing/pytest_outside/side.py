"""What the two sides of the conversation do differently."""

from __future__ import annotations

from typing import Any, Protocol

from .link import Link


class Side(Protocol):
    """What the two sides do differently.

    Attributes:
        lends_functions: whether functions of this side are real functions over there.
    """

    lends_functions: bool

    def by_name(self, value: Any) -> list[str] | None:
        """Return module and name under which a value is sent, when the other side may look it up."""

    def look_up(self, module: str, name: str) -> Any:
        """Find what the other side has sent by name."""

    def check(self, op: str, args: list[Any]) -> None:
        """Raise when the other side may not ask for this."""

    def compare(self, link: Link, proxy: Any, name: str, other: Any) -> Any:
        """Compare a stand-in."""

    def outgoing(self, depth: int) -> dict[str, Any]:
        """Return what else is to be said with a message."""
        ...

    def incoming(self, extra: dict[str, Any]) -> None:
        """Take what else was said with a message."""

    def raised(self, error: BaseException) -> None:
        """Take note of an exception that the other side raised."""

    def unsendable(self) -> Any:
        """Return what stands for a value that the other side has and cannot send."""

    def note(self, reason: str, *, hard: bool) -> None:
        """Say what speaks against relying on this test."""
