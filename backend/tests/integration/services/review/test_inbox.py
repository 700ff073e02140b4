"""The inbox: filters narrow it, and an escalation has at most one reviewer who looks after it."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.core.errors import ConflictError, NotFoundError
from app.schemas.api.escalations import EscalationAssign, EscalationQuery, EscalationResolve
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio

ASK = EscalationAssign()
TAKE_OVER = EscalationAssign(take_over=True)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def test_of_many_at_once_one_gets_it(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    answers = await at_once(
        *(cases.escalations.assign(escalation_id, ASK, f"reviewer {number}") for number in range(8))
    )
    won = [each for each in answers if not isinstance(each, Exception)]
    lost = [each for each in answers if isinstance(each, ConflictError)]
    assert (len(won), len(lost)) == (1, 7)
    assert {each.extra["assigned_to"] for each in lost} == {won[0].assigned_to}
    assert await cases.rows.events(run_id) == ["escalation.assigned"]


async def test_it_is_taken_over_and_given_back(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    first = await cases.escalations.assign(escalation_id, ASK, "ada")
    assert first.assigned_at is not None
    assert await cases.escalations.assign(escalation_id, ASK, "ada") == first, "once more changes nothing"
    assert (await cases.escalations.assign(escalation_id, TAKE_OVER, "bo")).assigned_to == "bo"
    with pytest.raises(ConflictError, match="bo has taken"):
        await cases.escalations.release(escalation_id, "ada")
    back = await cases.escalations.release(escalation_id, "bo")
    assert (back.assigned_to, back.assigned_at) == (None, None)
    assert await cases.rows.events(run_id) == ["escalation.assigned"] * 3
    assert cases.bell.rung == [run_id] * 3


async def test_only_an_open_one_is_assigned_and_any_reviewer_decides(cases: UseCases) -> None:
    _, escalation_id, _ = await cases.rows.waiting()
    await cases.escalations.assign(escalation_id, ASK, "ada")
    reject = EscalationResolve.model_validate({"decision": "reject", "version": 1})
    await cases.escalations.resolve(escalation_id, reject, "bo")
    with pytest.raises(ConflictError, match="is resolved"):
        await cases.escalations.assign(escalation_id, TAKE_OVER, "cy")
    with pytest.raises(NotFoundError):
        await cases.escalations.assign(uuid4(), ASK, "ada")


async def test_filters_narrow_the_list(cases: UseCases) -> None:
    _, mine, _ = await cases.rows.waiting()
    _, other, _ = await cases.rows.waiting()
    await cases.escalations.assign(mine, ASK, "ada")

    async def found(**given: Any) -> set[UUID]:
        page = await cases.escalations.page(EscalationQuery.model_validate(given))
        return {each.id for each in page.items}

    shown = (await cases.escalations.page(EscalationQuery(status="open"))).items[0]
    now = datetime.now(UTC)
    assert await found(status="open") == {mine, other}
    assert await found(assigned="ada") == {mine}
    assert await found(unassigned=True) == {other}
    assert await found(kind=[shown.kind], reason=[shown.reason_kind]) == {mine, other}
    assert await found(kind=["answer"]) == set()
    assert await found(reason=["question"]) == set()
    assert await found(project=["/no/such/place"]) == set()
    if shown.project is not None:
        assert mine in await found(project=[shown.project])
    assert await found(until=now - timedelta(days=1)) == set()
    assert await found(until=now + timedelta(days=1), unassigned=True) == {other}
