"""The HTTP route of a run's events: a page of them as JSON, or all of them as Server-Sent Events."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel

from app.api.event_access import EventReaderDependency, HubDependency
from app.api.event_stream import EventStream
from app.core.errors import NotFoundError, UnavailableError
from app.core.event_frames import MAX_SEQUENCE, ResumeMode
from app.core.websocket_events import Event
from app.realtime.reader import DATABASE_ERRORS, EventReader, RunHead, Start, StoredEvent
from app.schemas.runs import RunStatus

router = APIRouter(prefix="/api/v1", tags=["events"])

STREAM = "text/event-stream"


class EventPage(BaseModel):
    """Some events of a run in order.

    `head` is the run's last sequence; `next_after` is the cursor of the next page. With mode `reset` the
    cursor was of no use, and the page begins with the first event that there is.
    """

    events: list[Event]
    head: int
    next_after: int
    mode: ResumeMode


@router.get(
    "/runs/{run_id}/events",
    response_model=EventPage,
    responses={
        200: {"content": {STREAM: {"schema": {"type": "string"}}}},
        204: {"description": "A stream was asked for, but the run is over and the client has everything."},
    },
)
async def get_events(
    run_id: UUID,
    hub: HubDependency,
    reader: EventReaderDependency,
    after: Annotated[int, Query(ge=0, le=MAX_SEQUENCE)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    accept: Annotated[str, Header()] = "",
    last_event_id: Annotated[int | None, Header(ge=0, le=MAX_SEQUENCE)] = None,
) -> Response:
    """Give the events behind `after`, at most `limit` of them.

    With `Accept: text/event-stream` all events are streamed, from `Last-Event-ID` when a client resumes,
    until the run is over; `limit` does not count then.
    """
    is_stream = STREAM in accept.lower()
    cursor = last_event_id if is_stream and last_event_id is not None else after
    try:
        start = (await _head(reader, run_id)).start(cursor)
        if not is_stream:
            return _page(start, await reader.read(run_id, start.after, limit))
    except DATABASE_ERRORS as error:
        raise UnavailableError("the database cannot be reached") from error
    if RunStatus(start.status).is_final and start.after == start.head and start.mode is ResumeMode.RESUMED:
        return Response(status_code=204)  # which tells a browser to stop connecting again
    return EventStream(hub, run_id, after=cursor)


async def _head(reader: EventReader, run_id: UUID) -> RunHead:
    head = await reader.head(run_id)
    if head is None:
        raise NotFoundError(f"there is no run {run_id}", field="run_id")
    return head


def _page(start: Start, events: list[StoredEvent]) -> Response:
    """An `EventPage`, put together as text because its events are JSON already."""
    last = events[-1].sequence if events else start.after
    listed = b",".join(event.wire for event in events)
    rest = f'"head":{max(start.head, last)},"next_after":{last},"mode":"{start.mode}"'
    content = b'{"events":[' + listed + b"]," + rest.encode() + b"}"
    return Response(content, media_type="application/json")
