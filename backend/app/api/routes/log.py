"""The complete log of a run as a download: what its agents said and which tools they used."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from app.api.edge.access import Viewer
from app.api.edge.event_access import EventReaderDependency
from app.api.edge.strict_json import StrictRoute
from app.core.errors import NotFoundError, UnavailableError
from app.realtime.reader import DATABASE_ERRORS, EventReader, StoredEvent
from app.schemas.runs import Phase

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["events"])

PAGE = 500
_TYPES = {"agent.progress", "tool.called", "tool.result"}
_SIGNS = {"tool.called": "> ", "tool.result": "< "}


class LogFormat(StrEnum):
    """The format of a log: lines for people, or one JSON event per line."""

    TEXT = "text"
    NDJSON = "ndjson"


_MEDIA = {LogFormat.TEXT: "text/plain; charset=utf-8", LogFormat.NDJSON: "application/x-ndjson"}
_SCHEMA: dict[str, Any] = {"schema": {"type": "string"}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": _SCHEMA, "application/x-ndjson": _SCHEMA}}
}


@router.get(
    "/runs/{run_id}/log", summary="Download a run's log", response_class=Response, responses=_RESPONSES
)
async def download_log(
    run_id: UUID,
    reader: EventReaderDependency,
    who: Viewer,
    format: LogFormat = LogFormat.TEXT,  # noqa: A002 - the parameter's public name
    phase: Phase | None = None,
    attempt: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> StreamingResponse:
    """Returns what the agents said and which tools they used so far.

    A line of text is `TIME PHASE/ATTEMPT[#CANDIDATE] TEXT`; a tool call begins with `>`, its result with `<`.
    The text of agents is unchanged and can contain control characters.
    """
    try:
        head = await reader.head(run_id)
    except DATABASE_ERRORS as error:
        raise UnavailableError("the database cannot be reached") from error
    if head is None:
        raise NotFoundError(f"there is no run {run_id}", field="run_id")

    def wanted(event: dict[str, Any]) -> bool:
        return (phase is None or event["phase"] == phase) and (attempt is None or event["attempt"] == attempt)

    name = f"{str(run_id)[:8]}.{'log' if format is LogFormat.TEXT else 'ndjson'}"
    return StreamingResponse(
        _lines(reader, run_id, head.last, wanted, format),
        media_type=_MEDIA[format],
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _lines(
    reader: EventReader,
    run_id: UUID,
    last: int,
    wanted: Callable[[dict[str, Any]], bool],
    written: LogFormat,
) -> AsyncGenerator[str]:
    after = 0
    while after < last:
        page = await reader.read(run_id, after, PAGE)
        if not page:
            return
        after = page[-1].sequence
        yield "".join(_write(page, last, wanted, written))


def _write(
    page: list[StoredEvent], last: int, wanted: Callable[[dict[str, Any]], bool], written: LogFormat
) -> Iterator[str]:
    for stored in page:
        if stored.type not in _TYPES or stored.sequence > last:
            continue
        event: dict[str, Any] = json.loads(stored.wire)
        if not wanted(event):
            continue
        if written is LogFormat.NDJSON:
            yield f"{stored.wire.decode()}\n"
        else:
            yield from _text(event)


def _text(event: dict[str, Any]) -> Iterator[str]:
    data = event["data"]
    candidate = f"#{data['candidate']}" if data.get("candidate") else ""
    place = f"{event['phase']}/{event['attempt']}{candidate}"
    if event["event"] == "agent.progress":
        for line in data["lines"]:
            yield f"{line['at']} {place} {line['text']}\n"
    else:
        yield f"{event['timestamp']} {place} {_SIGNS[event['event']]}{data['tool']} {data['text']}\n"
