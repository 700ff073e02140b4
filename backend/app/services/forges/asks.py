"""Records deliveries once, whether a forge sent them or a poll found them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import ForgeDelivery
from app.forges.deliveries import Asked, Wish, read_delivery
from app.forges.gitlab_deliveries import read_gitlab_delivery
from app.forges.operator_file import ForgesFile
from app.forges.repositories import Members

_SAME = timedelta(seconds=10)
"""A webhook tells when the issue changed, a poll when the label came: both by the forge's clock."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery that is to be recorded.

    Attributes:
        forge: name of the forge.
        id: by which the forge knows it.
        event: its kind.
        digest: SHA-256 of the body.
        payload: the body, read.
    """

    forge: str
    id: str
    event: str
    digest: bytes
    payload: dict[str, Any]


def read_wish(file: ForgesFile, forge: str, event: str, payload: Mapping[str, Any]) -> Wish:
    """Say what a delivery of a forge asks for."""
    entry = file.forges.get(forge)
    read = read_gitlab_delivery if entry is not None and entry.kind == "gitlab" else read_delivery
    return read(event, payload)


async def record_delivery(sessions: Sessions, members: Members, delivery: Delivery) -> bool:
    """Record a delivery; give False if it is there already, or another that tells of the same."""
    wish = read_wish(members.file, delivery.forge, delivery.event, delivery.payload)
    asks = _name_of(members, delivery.forge, wish) if isinstance(wish, Asked) else None
    asked_at = wish.at if isinstance(wish, Asked) and asks else None
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


def _name_of(members: Members, forge: str, wish: Asked) -> str | None:
    """Return what a wish is known by; None for labels that start nothing."""
    if wish.comment is not None:
        return f"comment:{wish.repository.lower()}:{wish.comment}"
    member = members.named(forge, wish.repository)
    rules = set(member.repository.rules.labels) if member else set[str]()
    labels = sorted({wish.text, *wish.more_labels} & rules)
    # Somebody without rights must not hide that somebody with rights did the same.
    return f"label:{wish.repository.lower()}#{wish.number}:{labels[0]}:{wish.user}" if labels else None


async def _is_known(session: AsyncSession, forge: str, asks: str, at: datetime) -> bool:
    # One after the other, so that of two that tell of the same the second sees the first.
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"{forge} {asks}"))))
    row = ForgeDelivery
    same = select(row.id).where(
        row.forge == forge, row.asks == asks, row.asked_at.between(at - _SAME, at + _SAME)
    )
    return await session.scalar(same.limit(1)) is not None
