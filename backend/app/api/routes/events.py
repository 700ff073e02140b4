"""The HTTP route of a run's events: a page of them as JSON, or all of them as Server-Sent Events."""

from dataclasses import replace
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel, Field

from app.api.edge.event_access import EventReaderDependency, HubDependency
from app.api.edge.strict_json import StrictRoute
from app.api.streams.server_sent import EventStream
from app.core.errors import InvalidInputError, NotFoundError, UnavailableError
from app.core.event_frames import MAX_EPOCH_CHARS, MAX_SEQUENCE, DeliveryStart, ResumeMode
from app.core.websocket_events import Event, SprintEventType
from app.realtime.reader import DATABASE_ERRORS, EventFilter, EventReader, RunHead, StoredEvent
from app.realtime.subscription import Wish
from app.schemas.runs import Phase, RunStatus

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["events"])

STREAM = "text/event-stream"


LastEventId = Annotated[str | None, Header(pattern=f"^[0-9]{{1,19}}(@[0-9a-z]{{1,{MAX_EPOCH_CHARS}}})?$")]
"""A position in a stream: the number of an event and its epoch, or only the number."""


class EventQuery(BaseModel):
    """Which events to return."""

    after: int = Field(default=0, ge=0, le=MAX_SEQUENCE)
    epoch: str | None = Field(default=None, max_length=MAX_EPOCH_CHARS)
    limit: int = Field(default=200, ge=1, le=1000)
    types: list[SprintEventType] = Field(default_factory=list[SprintEventType])
    phase: Phase | None = None
    attempt: int | None = Field(default=None, ge=1, le=2**31 - 1)

    @property
    def choice(self) -> EventFilter | None:
        """Return which events are selected; None for all of them."""
        if not self.types and self.phase is None and self.attempt is None:
            return None
        return EventFilter(tuple(self.types), self.phase, self.attempt)


class EventPage(BaseModel):
    """A page of a run's events, in order.

    `head` is the run's last sequence; `next_after` and `epoch` are the cursor of the next page. With mode
    `reset` the cursor was no longer valid, and the page starts with the oldest event that is kept.
    """

    events: list[Event]
    head: int
    next_after: int
    epoch: str
    mode: ResumeMode


@router.get(
    "/runs/{run_id}/events",
    response_model=EventPage,
    responses={
        200: {"content": {STREAM: {"schema": {"type": "string"}}}},
        204: {"description": "A stream was requested, but the run has ended and the client has all events."},
    },
)
async def get_events(
    run_id: UUID,
    hub: HubDependency,
    reader: EventReaderDependency,
    query: Annotated[EventQuery, Query()],
    accept: Annotated[str, Header()] = "",
    last_event_id: LastEventId = None,
) -> Response:
    """Returns the events after the sequence `after`, at most `limit` of them.

    `types`, `phase` and `attempt` select events. The page then has only these, and `next_after` skips the
    others. With `Accept: text/event-stream`, streams all events until the run ends, starting after
    `Last-Event-ID` if given; a stream takes neither `limit` nor a selection.
    """
    is_stream = STREAM in accept.lower()
    if is_stream:
        _require_all(query)
    after, epoch = query.after, query.epoch
    if is_stream and last_event_id is not None:
        number, _, given_epoch = last_event_id.partition("@")
        after, epoch = int(number), given_epoch or None
    try:
        head = await _head(reader, run_id)
        if not is_stream:
            start = head.start(after, epoch)
            if query.choice is not None:
                return await _chosen(reader, run_id, start, query.limit, query.choice)
            return await _page(reader, run_id, start, query.limit)
    except DATABASE_ERRORS as error:
        raise UnavailableError("the database cannot be reached") from error
    start = head.start(after, epoch)
    if RunStatus(start.status).is_final and start.after == start.head and start.mode is ResumeMode.RESUMED:
        return Response(status_code=204)  # the status that tells a browser not to reconnect
    return EventStream(hub, run_id, Wish(after, epoch))


def _require_all(query: EventQuery) -> None:
    for name in ("types", "phase", "attempt", "limit"):
        if name in query.model_fields_set:
            raise InvalidInputError("works only with JSON; a stream has all events", field=name)


async def _head(reader: EventReader, run_id: UUID) -> RunHead:
    head = await reader.head(run_id)
    if head is None:
        raise NotFoundError(f"there is no run {run_id}", field="run_id")
    return head


async def _page(reader: EventReader, run_id: UUID, start: DeliveryStart, limit: int) -> Response:
    """Return an `EventPage`, assembled as text because its events are JSON already."""
    events = await reader.read(run_id, start.after, limit)
    if events and events[0].sequence != start.after + 1:  # events were trimmed since the head was read
        start = replace(start, mode=ResumeMode.RESET, after=events[0].sequence - 1)
    events = [event for place, event in enumerate(events, start.after + 1) if event.sequence == place]
    last = events[-1].sequence if events else start.after
    return _put_together(start, events, last)


async def _chosen(
    reader: EventReader, run_id: UUID, start: DeliveryStart, limit: int, choice: EventFilter
) -> Response:
    """Return a page like `_page`, of chosen events; one that is not full has skipped all that follow."""
    events = await reader.read_chosen(run_id, start.after, limit, choice)
    last = events[-1].sequence if events else start.after
    return _put_together(start, events, last if len(events) == limit else max(start.head, last))


def _put_together(start: DeliveryStart, events: list[StoredEvent], next_after: int) -> Response:
    listed = b",".join(event.wire for event in events)
    head = max(start.head, next_after)
    rest = f'"head":{head},"next_after":{next_after},"epoch":"{start.epoch}","mode":"{start.mode}"'
    content = b'{"events":[' + listed + b"]," + rest.encode() + b"}"
    return Response(content, media_type="application/json")
