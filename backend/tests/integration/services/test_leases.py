"""A row that fails is postponed, and what is taken with it has its turn."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError

from app.db.models import ForgeDelivery, ForgePoll
from app.services.forges.inbox import MAX_TRIES
from app.services.record.leases import Leases
from tests.forge_double import Fault, signed
from tests.integration.services.support import UseCases, use_cases
from tests.integration.services.test_forges import scene

pytestmark = pytest.mark.anyio

LATER = datetime.now(UTC) + timedelta(days=1)


@dataclass(frozen=True)
class Taken:
    """What is read of a row."""

    place: str
    tries: int


@dataclass
class Work:
    """Works on rows; the one named "bad" fails."""

    cases: UseCases
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.leases = Leases(sessions=self.cases.sessions, table=ForgePoll, due_at="next_at", make=Taken)

    async def __call__(self) -> int:
        return await self.leases.work(self.act, self.postpone)

    async def act(self, taken: Taken) -> None:
        if taken.place == "bad" and self.error is not None:
            raise self.error
        if taken.place == "bad":  # the server ends the connection, as at a restart
            async with self.cases.sessions.begin() as session:
                await session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        await self.leases.record(taken.place, taken.tries, {"next_at": LATER, "tries": 0})

    async def postpone(self, taken: Taken, why: str) -> None:
        await self.leases.record(taken.place, taken.tries, {"next_at": LATER, "last_error": why})


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        now = datetime.now(UTC)
        async with opened.sessions.begin() as session:
            for number, place in enumerate(("first", "bad", "second", "third")):
                due = now - timedelta(seconds=60 - number)
                session.add(ForgePoll(place=place, forge="f", repository="r", since=now, next_at=due))
        yield opened


async def rows(cases: UseCases) -> dict[str, ForgePoll]:
    async with cases.sessions() as session:
        return {each.place: each for each in await session.scalars(select(ForgePoll))}


async def test_a_row_that_fails_is_postponed_and_the_others_are_worked_on(cases: UseCases) -> None:
    assert await Work(cases, KeyError("label"))() == 4
    found = await rows(cases)
    assert {each.next_at for each in found.values()} == {LATER}
    assert (found["bad"].last_error, found["bad"].tries) == ("KeyError: 'label'", 1)
    assert found["third"].last_error == ""


async def test_an_outage_gives_back_what_was_not_tried(cases: UseCases) -> None:
    with pytest.raises(DBAPIError):
        await Work(cases)()
    found = await rows(cases)
    assert (found["first"].next_at, found["bad"].next_at) == (LATER, LATER)
    assert found["bad"].last_error
    for each in (found["second"], found["third"]):
        assert each.tries == 0
        assert each.next_at <= datetime.now(UTC), "it is due"
    assert await Work(cases)() == 2


async def test_a_delivery_that_always_fails_is_given_up(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.inbox.take(*_request(here.forge.labeled(7, "go"), "issues"))
        await here.inbox.take(*_request({"zen": "x"}, "ping"))
        for tries in (1, MAX_TRIES):
            # The forge's answer lacks what an issue has.
            here.forge.faults.append(Fault("GET", "/issues/7$", 200))
            values = {"tries": tries - 1, "next_at": datetime.now(UTC) - timedelta(seconds=1)}
            async with here.parts.sessions.begin() as session:
                pending = update(ForgeDelivery).where(ForgeDelivery.status == "pending")
                await session.execute(pending.values(values))
            await here.chore()
            async with here.parts.sessions() as session:
                labeled, ping = await session.scalars(
                    select(ForgeDelivery).order_by(ForgeDelivery.received_at)
                )
            assert ping.status == "ignored"
            assert labeled.result.startswith("KeyError: ")
            assert labeled.status == ("pending" if tries == 1 else "failed")
            assert labeled.next_at > datetime.now(UTC) or tries > 1
            assert labeled.next_at < datetime.now(UTC) + timedelta(minutes=10) or tries > 1, "no lease"


def _request(payload: object, event: str) -> tuple[dict[str, str], bytes]:
    request = signed(payload, event)
    return dict(request.headers), request.content
