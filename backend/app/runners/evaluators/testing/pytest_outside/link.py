"""The connection that this process's stand-ins use."""

from __future__ import annotations

from typing import Any, Protocol


class UncarriedError(Exception):
    """The test asks for something that cannot be carried between the processes."""


class PeerLink(Protocol):
    """The parts of the connection that a stand-in needs."""

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        """Perform an operation in the other process."""

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        """Compare a stand-in by the operator with that name."""

    def note(self, reason: str, *, hard: bool) -> None:
        """Note a reason not to rely on this test."""


class _Unlinked:
    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        raise UncarriedError("there is no other process")

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        return NotImplemented

    def note(self, reason: str, *, hard: bool) -> None:
        return


_link: list[PeerLink] = [_Unlinked()]


def connect(link: PeerLink) -> None:
    """Set the connection of this process's stand-ins."""
    _link[0] = link


def link() -> PeerLink:
    """Return the connection of this process."""
    return _link[0]


def refuse(reason: str) -> UncarriedError:
    """Note that the running test cannot be carried. Return the error to raise."""
    _link[0].note(reason, hard=True)
    return UncarriedError(reason)
