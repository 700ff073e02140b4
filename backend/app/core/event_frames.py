"""The messages on event sockets other than events: control frames and close codes."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.core.websocket_events import SprintEventType
from app.schemas.api.runs import ListedRun
from app.schemas.runs import RunKind

RUNS: Literal["runs"] = "runs"
"""Stands for the list of all runs in frames that otherwise name one run."""

MAX_SEQUENCE = 2**63 - 1
"""The largest sequence number that Postgres can compare."""

MAX_EPOCH_CHARS = 64


_SNAPSHOTS = {
    RunKind.SPRINT: "/api/v1/sprints",
    RunKind.DIRECTOR_LOOP: "/api/v1/loops",
    RunKind.ANSWER: "/api/v1/answers",
}


class CloseCode(IntEnum):
    """Why the server closed a socket.

    The access checks send 4401 and 4403 before any frame; 4401 is also sent when a token is revoked later.
    """

    UNSUPPORTED = 1003
    BAD_REQUEST = 1008
    TOO_BIG = 1009
    RESTART = 1012
    UNAUTHORIZED = 4401
    FORBIDDEN = 4403
    NOT_FOUND = 4404
    SLOW = 4408
    CONFLICT = 4409
    TOO_MANY = 4429


class Frame(BaseModel):
    """A control frame: it has a `type` and never an `event`, which only events have."""

    model_config = ConfigDict(frozen=True)

    def wire(self) -> bytes:
        """Return the frame as JSON text, without members that have no value."""
        return self.model_dump_json(exclude_none=True).encode()


class SubscribeFrame(Frame):
    """Asks for the events of a run after sequence `after`, or for changes of all runs.

    `epoch` names the history in which `after` was counted. `filters` names the wanted types; without it, all
    types are sent. A second subscription to the same run replaces the first.
    """

    model_config = ConfigDict(extra="forbid")

    type: Literal["subscribe"] = "subscribe"
    run: UUID | Literal["runs"]
    after: Annotated[int, Field(ge=0, le=MAX_SEQUENCE, strict=True)] = 0
    epoch: Annotated[str, Field(max_length=MAX_EPOCH_CHARS)] | None = None
    filters: Annotated[list[SprintEventType], Field(min_length=1, max_length=64)] | None = None


class UnsubscribeFrame(Frame):
    """Ends a subscription. The answer is `unsubscribed`, after which no event of the run follows."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["unsubscribe"] = "unsubscribe"
    run: UUID | Literal["runs"]


ClientFrame = Annotated[SubscribeFrame | UnsubscribeFrame, Field(discriminator="type")]
"""Any frame that a client may send."""

CLIENT_FRAME_ADAPTER: TypeAdapter[ClientFrame] = TypeAdapter(ClientFrame)


class ResumeMode(StrEnum):
    """Whether events continue from the given cursor, or the client must discard what it has."""

    RESUMED = "resumed"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class DeliveryStart:
    """Where delivery starts: after `after`; `head` is the run's last sequence at that time."""

    mode: ResumeMode
    after: int
    head: int
    status: str
    epoch: str
    kind: RunKind = RunKind.SPRINT


class SubscribedFrame(Frame):
    """Answers `subscribe`: the next events come after `after`.

    `head` is the run's last stored sequence, and `epoch` the history that it belongs to. With mode `reset`
    the cursor was invalid: it was ahead of the head, older than what is kept, or counted in another history.
    The client then discards what it has, takes `after` as its cursor, and fetches `snapshot` for the state up
    to there. The same frame is sent again, with `reset`, if that happens during a subscription.
    """

    type: Literal["subscribed"] = "subscribed"
    run: UUID | Literal["runs"]
    head: int = 0
    after: int = 0
    epoch: str | None = None
    mode: ResumeMode
    status: str | None = None
    snapshot: str | None = None

    @classmethod
    def of(cls, run_id: UUID, start: DeliveryStart) -> Self:
        """Return the answer for a run."""
        return cls(
            run=run_id,
            head=start.head,
            after=start.after,
            epoch=start.epoch,
            mode=start.mode,
            status=start.status,
            snapshot=f"{_SNAPSHOTS[start.kind]}/{run_id}" if start.mode is ResumeMode.RESET else None,
        )


class UnsubscribedFrame(Frame):
    """Answers `unsubscribe`."""

    type: Literal["unsubscribed"] = "unsubscribed"
    run: UUID | Literal["runs"]


class HeartbeatFrame(Frame):
    """Shows that the connection is alive. For a run, everything up to `head` was sent before this frame."""

    type: Literal["heartbeat"] = "heartbeat"
    run: UUID | None = None
    head: int | None = None


class ErrorFrame(Frame):
    """A request that was refused; the connection stays open. `field` names the member at fault."""

    type: Literal["error"] = "error"
    code: str
    detail: str
    run: UUID | None = None
    field: str | None = None

    @classmethod
    def from_validation(cls, error: ValidationError) -> Self:
        """Return the frame for input that does not fit its model; it names the first error."""
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        # The location also contains union members ("subscribe", "run", "uuid"), which
        # are not the client's words.
        names = [part for part in first["loc"] if part not in ("subscribe", "unsubscribe")]
        named = names[:1] + [part for part in names[1:] if isinstance(part, int)]
        field = ".".join(str(part) for part in named) or None
        return cls(code="invalid-input", detail=first["msg"], field=field)


class RunState(ListedRun):
    """A run's state: what lists over HTTP show, except the goal, which does not change."""

    run_id: UUID


class RunFrame(Frame):
    """A run has changed. Quick successive changes of one run are reported once, with the latest state."""

    type: Literal["run"] = "run"
    run: RunState

    @classmethod
    def of(cls, run: ListedRun) -> Self:
        """Return the frame for a run as a list shows it."""
        return cls(run=RunState.model_validate({**dict(run), "run_id": run.id}))

    def wire(self) -> bytes:
        """Return the frame as JSON text; a run's state always has all members."""
        return self.model_dump_json().encode()


class RunGoneFrame(Frame):
    """A run was deleted, or is not in a database that was restored."""

    type: Literal["gone"] = "gone"
    run: UUID


ServerFrame = Annotated[
    SubscribedFrame | UnsubscribedFrame | HeartbeatFrame | ErrorFrame | RunFrame | RunGoneFrame,
    Field(discriminator="type"),
]
"""Any frame that the server sends, apart from events."""

SERVER_FRAME_ADAPTER: TypeAdapter[ServerFrame] = TypeAdapter(ServerFrame)
"""Provides the JSON Schema of the frames that clients receive."""
