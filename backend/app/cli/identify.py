"""Finds runs and escalations by an id or its first characters."""

from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from app.cli.exits import CliError
from app.cli.view.text import one_line

if TYPE_CHECKING:
    from app.cli.api_client import ApiClient
    from app.schemas.api.escalations import EscalationView

SHORTEST = 6
_HEX = frozenset("0123456789abcdef-")


class _Named(Protocol):
    @property
    def id(self) -> UUID: ...


async def find_run(api: "ApiClient", given: str) -> UUID:
    """Return the run with an id that begins with `given`.

    Raises:
        CliError: none or several match, or `given` is not the beginning of an id.
    """
    whole = _whole(given)
    if whole is not None:
        return whole
    start = _beginning("run", given)
    return await _only("run", start, api.runs(q=start))


async def find_escalation(api: "ApiClient", given: str | None) -> "EscalationView":
    """Return the escalation with an id, or a run's id, that begins with `given`.

    Without `given`, return the only open escalation.

    Raises:
        CliError: none or several match.
    """
    opened = [each async for each in api.escalations("open")]
    if given is None:
        return _single(opened, "no escalation is open", "several escalations are open; name one")
    start = _beginning("escalation", given)
    of_run = [each for each in opened if str(each.run_id).startswith(start)]
    if of_run:
        several = f"{one_line(given)} has several open escalations; name one"
        return _single(of_run, "", several)
    whole = _whole(given)
    if whole is not None:
        return await api.escalation(whole)
    return await api.escalation(await _only("escalation", start, api.escalations(None)))


def _whole(given: str) -> UUID | None:
    try:
        return UUID(given.strip())
    except ValueError:
        return None


def _beginning(kind: str, given: str) -> str:
    start = given.strip().lower()
    if len(start) < SHORTEST or not set(start) <= _HEX:
        raise CliError(
            f"{kind}: {one_line(given, 60)!r} is not an id; give at least its first {SHORTEST} characters"
        )
    return start


async def _only(kind: str, start: str, candidates: AsyncIterable[_Named]) -> UUID:
    found: list[UUID] = []
    async for each in candidates:
        if str(each.id).startswith(start) and each.id not in found:
            found.append(each.id)
    if not found:
        raise CliError(f"{kind}: none has an id that starts with {start}")
    if len(found) > 1:
        raise CliError(f"{kind}: {start} is the beginning of {len(found)} ids; give more characters")
    return found[0]


def _single(found: "list[EscalationView]", none: str, several: str) -> "EscalationView":
    if not found:
        raise CliError(none)
    if len(found) > 1:
        names = ", ".join(f"{str(each.id)[:8]} ({one_line(each.run_name, 40)})" for each in found[:10])
        raise CliError(f"{several}: {names}")
    return found[0]
