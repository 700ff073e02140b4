"""The connection that the stand-ins of this process speak through."""

from __future__ import annotations

from typing import Any, Protocol


class UncarriedError(Exception):
    """The test asks for something that cannot be carried between the processes."""


class Link(Protocol):
    """What a stand-in needs of the connection."""

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        """Have something done over there."""

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        """Compare a stand-in by the operator of that name."""

    def note(self, reason: str, *, hard: bool) -> None:
        """Say what speaks against relying on this test."""


class _Unlinked:
    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        raise UncarriedError("there is no other process")

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        return NotImplemented

    def note(self, reason: str, *, hard: bool) -> None:
        return


_link: list[Link] = [_Unlinked()]


def connect(link: Link) -> None:
    """Let the stand-ins of this process speak through a connection."""
    _link[0] = link


def link() -> Link:
    """Return the connection of this process."""
    return _link[0]


def refuse(reason: str) -> UncarriedError:
    """Note that the running test cannot be carried, and give the error to raise."""
    _link[0].note(reason, hard=True)
    return UncarriedError(reason)
