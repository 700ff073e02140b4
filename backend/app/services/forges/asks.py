"""Records each delivery once, whether a forge sent it or a poll found it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import ForgeDelivery
from app.forges.deliveries import RequestMade, Wish, read_delivery
from app.forges.gitlab_deliveries import read_gitlab_delivery
from app.forges.operator_file import ForgesFile
from app.forges.repositories import Members

_SAME = timedelta(seconds=10)
"""Times within which two deliveries are about the same act, both by the forge's clock.

A webhook gives the time at which the issue changed, a poll the time at which the label was added.
"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery to record.

    Attributes:
        forge: name of the forge.
        id: the forge's id of the delivery.
        event: the delivery's kind.
        digest: SHA-256 of the body.
        payload: the parsed body.
    """

    forge: str
    id: str
    event: str
    digest: bytes
    payload: dict[str, Any]


def read_wish(file: ForgesFile, forge: str, event: str, payload: Mapping[str, Any]) -> Wish:
    """Return what a delivery of a forge asks for."""
    entry = file.forges.get(forge)
    read = read_gitlab_delivery if entry is not None and entry.kind == "gitlab" else read_delivery
    return read(event, payload)


async def record_delivery(sessions: Sessions, members: Members, delivery: Delivery) -> bool:
    """Record a delivery; return False if it, or another one about the same act, is already recorded."""
    wish = read_wish(members.file, delivery.forge, delivery.event, delivery.payload)
    asks = _name_of(members, delivery.forge, wish) if isinstance(wish, RequestMade) else None
    asked_at = wish.at if isinstance(wish, RequestMade) and asks else None
    row = {
        "forge": delivery.forge,
        "delivery": delivery.id,
        "digest": delivery.digest,
        "event": delivery.event,
        "payload": delivery.payload,
        "asks": asks,
        "asked_at": asked_at,
    }
    statement = insert(ForgeDelivery).values(row).on_conflict_do_nothing().returning(ForgeDelivery.id)
    async with sessions.begin() as session:
        if asks and asked_at and await _is_known(session, delivery.forge, asks, asked_at):
            return False
        return await session.scalar(statement) is not None


def _name_of(members: Members, forge: str, wish: RequestMade) -> str | None:
    """Return the name under which a wish is known; None for labels that start nothing."""
    if wish.comment is not None:
        return f"comment:{wish.repository.lower()}:{wish.comment}"
    member = members.named(forge, wish.repository)
    rules = set(member.repository.rules.labels) if member else set[str]()
    labels = sorted({wish.text, *wish.more_labels} & rules)
    # The user is part of the name, so that a person without rights does not hide the same act
    # of a person with rights.
    return f"label:{wish.repository.lower()}#{wish.number}:{labels[0]}:{wish.user}" if labels else None


async def _is_known(session: AsyncSession, forge: str, asks: str, at: datetime) -> bool:
    # One transaction at a time, so that the second of two deliveries about the same act sees the first.
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"{forge} {asks}"))))
    row = ForgeDelivery
    same = select(row.id).where(
        row.forge == forge, row.asks == asks, row.asked_at.between(at - _SAME, at + _SAME)
    )
    return await session.scalar(same.limit(1)) is not None
