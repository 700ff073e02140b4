"""Stores messages to agents: due, delivered and refused ones; part of a caller's transaction."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.events.agents import AgentMessageData
from app.db.models import AgentMessage, Attempt
from app.schemas.api.messages import MessageMode, MessageStatus
from app.services.record.transactions import Recording

_OLDEST_FIRST = (AgentMessage.sent_at, AgentMessage.id)


async def due_messages(
    session: AsyncSession, run_id: UUID, *, steering_only: bool = False
) -> Sequence[AgentMessage]:
    """Read the messages of a run that wait for delivery, oldest first."""
    statement = select(AgentMessage).where(
        AgentMessage.run_id == run_id, AgentMessage.status == MessageStatus.QUEUED
    )
    if steering_only:
        statement = statement.where(AgentMessage.mode == MessageMode.STEER)
    return (await session.scalars(statement.order_by(*_OLDEST_FIRST))).all()


async def told_before(session: AsyncSession, run_id: UUID, phase: str) -> list[str]:
    """Return what people said to the agents of a phase, as lines of guidance."""
    statement = select(AgentMessage).where(
        AgentMessage.run_id == run_id,
        AgentMessage.phase == phase,
        AgentMessage.status == MessageStatus.DELIVERED,
    )
    return [each.text for each in await session.scalars(statement.order_by(*_OLDEST_FIRST))]


async def delivered_among(session: AsyncSession, message_ids: Collection[UUID]) -> frozenset[UUID]:
    """Return which of these messages are recorded as delivered."""
    if not message_ids:
        return frozenset()
    statement = select(AgentMessage.id).where(
        AgentMessage.id.in_(message_ids), AgentMessage.status == MessageStatus.DELIVERED
    )
    return frozenset(await session.scalars(statement))


def deliver(recording: Recording, attempt: Attempt, messages: Sequence[AgentMessage]) -> None:
    """Record that messages were delivered to an attempt, which counts as steered from then on."""
    for each in messages:
        each.phase, each.attempt = attempt.phase, attempt.number
        attempt.steered = True
        _settle(recording, each, MessageStatus.DELIVERED)


async def refuse_messages(recording: Recording, reason: str) -> None:
    """Refuse the messages that wait for delivery, because no agent works for the run any more."""
    for each in await due_messages(recording.session, recording.run.id):
        each.reason = reason
        _settle(recording, each, MessageStatus.REFUSED)


def _settle(recording: Recording, message: AgentMessage, status: MessageStatus) -> None:
    message.status = status
    message.settled_at = datetime.now(UTC)
    recording.tell(message_data(message), message.phase, message.attempt)


def message_data(message: AgentMessage) -> AgentMessageData:
    """Return the event data of a message."""
    return AgentMessageData(
        message_id=message.id,
        mode=message.mode,
        text=message.text,
        status=message.status,
        by=message.sent_by,
        reason=message.reason,
    )
