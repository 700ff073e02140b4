"""Accepts messages to the agents of runs, and shows their delivery."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import select

from app.core.errors import ConflictError, NotFoundError
from app.db.engine import Sessions
from app.db.models import AgentMessage, Run
from app.schemas.api.messages import MessageCreate, MessageList, MessageStatus, MessageView
from app.schemas.runs import RunKind, RunStatus
from app.services.control.cancelling import word_of
from app.services.control.idempotency import UNKEYED, Once
from app.services.read.runs import find_run
from app.services.record.messages import message_data
from app.services.record.transactions import EventBell, Recording


@dataclass(frozen=True, slots=True)
class MessageService:
    """Queues messages to agents. The worker that runs the agent delivers them.

    Attributes:
        sessions: opens transactions.
        bell: signals new events.
    """

    sessions: Sessions
    bell: EventBell

    async def send(
        self, run_id: UUID, message: MessageCreate, actor: str, once: Once = UNKEYED
    ) -> MessageView:
        """Store a message for delivery.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the run is over or is not a sprint.
            ReplayError: the same request has sent the message in the meantime.
        """
        async with self.sessions.begin() as session:
            await once.claim(session)
            run = await session.get(Run, run_id, with_for_update=True)
            if run is None:
                raise NotFoundError(f"there is no run {run_id}")
            _require_agent(run)
            row = AgentMessage(
                id=uuid4(),
                run_id=run_id,
                mode=message.mode,
                text=message.text,
                status=MessageStatus.QUEUED,
                reason="",
                sent_by=actor,
                sent_at=datetime.now(UTC),
            )
            session.add(row)
            recording = Recording(session, run)
            recording.tell(message_data(row), run.phase)
            await recording.flush_events()
            view = _view(row)
            await once.keep(session, view)
        self.bell.ring(run_id)
        return view

    async def all(self, run_id: UUID) -> MessageList:
        """Return the messages of a run.

        Raises:
            NotFoundError: there is no such run.
        """
        async with self.sessions() as session:
            await find_run(session, run_id)
            statement = select(AgentMessage).where(AgentMessage.run_id == run_id)
            rows = await session.scalars(statement.order_by(AgentMessage.sent_at, AgentMessage.id))
            return MessageList(items=[_view(each) for each in rows])


def _require_agent(run: Run) -> None:
    if RunStatus(run.status).is_final:
        raise ConflictError(f"the {word_of(run)} is {run.status}", run_status=run.status)
    if run.kind != RunKind.SPRINT:
        raise ConflictError(
            f"a {word_of(run)} cannot receive messages; only sprints can", run_status=run.status
        )


def _view(row: AgentMessage) -> MessageView:
    return MessageView.model_validate(row, from_attributes=True)
