"""Reminders of questions that wait: told once each, by whichever worker looks, and never during a pause."""

from collections.abc import AsyncGenerator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import text

from app.db.models import Escalation
from app.services.chores.reminders import ReminderService
from app.services.record.outbox import Outbox
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio

URL = "https://hooks.example.org"
REMINDER = "escalation.reminder"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
def remind(cases: UseCases) -> ReminderService:
    return ReminderService(cases.sessions, cases.bell, [24.0, 72.0], Outbox((URL,)))


async def later(cases: UseCases, hours: float) -> None:
    """As if the questions had been asked so much earlier."""
    async with cases.sessions.begin() as session:
        await session.execute(
            text(
                "UPDATE escalations SET created_at = created_at - make_interval(secs => :seconds), "
                "remind_at = remind_at - make_interval(secs => :seconds)"
            ),
            {"seconds": hours * 3600},
        )


async def escalation(cases: UseCases, escalation_id: UUID) -> Escalation:
    async with cases.sessions() as session:
        return await session.get_one(Escalation, escalation_id)


async def test_a_question_that_waits_for_days(cases: UseCases, remind: ReminderService) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    assert await remind() == 0
    told: list[int] = []
    for hours in (23, 2, 24, 24, 1, 72):
        await later(cases, hours)
        told.append(await remind())
        assert await remind() == 0, "once each"
    assert told == [0, 1, 0, 1, 0, 1]
    assert await cases.rows.events(run_id) == [REMINDER] * 3
    assert (await escalation(cases, escalation_id)).reminders == 3
    assert cases.bell.rung == [run_id] * 3
    assert await cases.rows.count("webhook_deliveries") == 3
    assert await cases.rows.jobs(run_id) == 0


async def test_what_fell_due_while_nobody_was_there_is_told_once(
    cases: UseCases, remind: ReminderService
) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    await later(cases, 24 * 30)
    assert await remind() == 1
    assert await cases.rows.events(run_id) == [REMINDER]
    assert (await escalation(cases, escalation_id)).reminders == 11


async def test_many_workers_at_once_remind_once(cases: UseCases, remind: ReminderService) -> None:
    ids = [(await cases.rows.waiting())[0] for _ in range(5)]
    await later(cases, 30)
    assert sum(await at_once(*(remind() for _ in range(4)))) == 5
    for run_id in ids:
        assert await cases.rows.events(run_id) == [REMINDER]


async def test_nobody_is_reminded_of_what_is_resolved_or_paused(
    cases: UseCases, remind: ReminderService
) -> None:
    resolved = await cases.rows.run()
    await cases.rows.escalation(resolved, status="resolved", decision="retry", decided_by="ada")
    withdrawn = await cases.rows.run(status="cancelled")
    await cases.rows.escalation(withdrawn, status="withdrawn")
    paused, _, _ = await cases.rows.waiting()
    await cases.pauses.pause(paused, "", "ada")
    await later(cases, 30)
    assert await remind() == 0
    await cases.pauses.resume(paused, "ada")
    assert await remind() == 1
