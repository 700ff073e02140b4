"""Follows a run's events through the WebSocket client, as typed events."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from app.cli.exits import CliError, ExitCode
from app.cli.view.text import one_line
from app.client.events import Reset, follow
from app.core.errors import ForbiddenError, NotFoundError, PhaseRunnerError, UnauthorizedError
from app.core.websocket_events import EVENT_ADAPTER, Event, SprintEventType

Follow = Callable[[UUID], AsyncGenerator[Event | Reset]]
"""Yields all events of a run in order, across reconnects, until the run is over.

`Reset` means that the events so far are void. Raises `CliError`.
"""

_KNOWN = frozenset(each.value for each in SprintEventType)


def follow_over_websocket(url: str, token: str | None) -> Follow:
    """Return the function that follows runs of the service at `url`."""

    async def follow_run(run_id: UUID) -> AsyncGenerator[Event | Reset]:
        try:
            async with aclosing(follow(url, run_id, token=token, until_final=True)) as frames:
                async for frame in frames:
                    if isinstance(frame, Reset):
                        yield frame
                    elif event := parse_event(frame):
                        yield event
        except PhaseRunnerError as error:
            raise CliError(one_line(error.detail, 1000), _exit_code(error)) from error

    return follow_run


def parse_event(item: Mapping[str, Any]) -> Event | None:
    """Read an event. Return None for a type that is newer than this program.

    Raises:
        CliError: it does not have the form of an event that this version knows.
    """
    if item.get("event") not in _KNOWN:
        return None
    try:
        return EVENT_ADAPTER.validate_python(item)
    except ValidationError as error:
        raise strange("an event", error) from error


def strange(what: str, error: ValidationError) -> CliError:
    """Return the error for a response with an unexpected form."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    text = f"{what} cannot be read ({place}: {first['msg']}); are client and server of the same version?"
    return CliError(one_line(text, 500), ExitCode.TRANSPORT)


def _exit_code(error: PhaseRunnerError) -> ExitCode:
    if isinstance(error, UnauthorizedError | ForbiddenError):
        return ExitCode.AUTH
    return ExitCode.USAGE if isinstance(error, NotFoundError) else ExitCode.TRANSPORT
