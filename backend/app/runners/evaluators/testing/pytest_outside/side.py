"""The behaviour in which the two sides of the conversation differ."""

from __future__ import annotations

from typing import Any, Protocol

from .link import PeerLink


class Side(Protocol):
    """The behaviour in which the two sides differ.

    Attributes:
        lends_functions: whether functions of this side are real functions in the other process.
    """

    lends_functions: bool

    def by_name(self, value: Any) -> list[str] | None:
        """Return module and name if a value is sent by name, because the other side may look it up."""

    def look_up(self, module: str, name: str) -> Any:
        """Return the value that the other side has sent by name."""

    def check(self, op: str, args: list[Any]) -> None:
        """Raise if the other side may not ask for this."""

    def compare(self, link: PeerLink, proxy: Any, name: str, other: Any) -> Any:
        """Compare a stand-in."""

    def outgoing(self, depth: int) -> dict[str, Any]:
        """Return further data for a message."""
        ...

    def incoming(self, extra: dict[str, Any]) -> None:
        """Handle the further data of a message."""

    def raised(self, error: BaseException) -> None:
        """Handle an exception that the other side raised."""

    def unsendable(self) -> Any:
        """Return a substitute for a value that the other side has and cannot send."""

    def note(self, reason: str, *, hard: bool) -> None:
        """Note a reason not to rely on this test."""
