"""Lists page without gaps and repeats, and show what is there now."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.core.errors import NotFoundError
from app.schemas.api.run_lists import RunQuery
from app.schemas.runs import RunStatus
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def test_pages_with_equal_times(cases: UseCases) -> None:
    at = datetime.now(UTC)
    made = [await cases.rows.run(created_at=at - timedelta(seconds=number // 3)) for number in range(7)]
    seen: list[UUID] = []
    cursor = None
    while True:
        page = await cases.lists.page(RunQuery(limit=2, cursor=cursor))
        seen += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        # What starts meanwhile is newer and belongs to a page before.
        await cases.rows.run(created_at=at + timedelta(seconds=1))
    assert len(seen) == len(set(seen))
    assert set(seen) == set(made)


SEARCHES = {
    "name in any case": ("TEA", {"name": "Teatime"}, True),
    "goal": ("round half", {"goal": "Please round half up"}, True),
    "percent is not a wildcard": ("%", {"name": "Teatime", "goal": "g"}, False),
    "underscore is not a wildcard": ("_", {"name": "Teatime", "goal": "g"}, False),
    "percent itself": ("100%", {"goal": "cover 100% of it"}, True),
    "nothing like it": ("coffee", {"name": "Teatime", "goal": "g"}, False),
}


@pytest.mark.parametrize(("search", "values", "found"), SEARCHES.values(), ids=SEARCHES.keys())
async def test_search(cases: UseCases, search: str, values: dict[str, str], found: bool) -> None:
    await cases.rows.run(**values)
    page = await cases.lists.page(RunQuery(q=search))
    assert bool(page.items) is found


async def test_search_by_the_beginning_of_an_id(cases: UseCases) -> None:
    run_id, _ = await cases.rows.run(), await cases.rows.run()
    page = await cases.lists.page(RunQuery(q=str(run_id)[:12].upper()))
    assert [each.id for each in page.items] == [run_id]


async def test_several_states(cases: UseCases) -> None:
    for status in ("queued", "active", "failed"):
        await cases.rows.run(status=status)
    wanted = [RunStatus.QUEUED, RunStatus.FAILED]
    page = await cases.lists.page(RunQuery(status=wanted))
    assert {each.status for each in page.items} == set(wanted)


async def test_a_waiting_sprint_says_what_it_waits_for(cases: UseCases) -> None:
    run_id = await cases.rows.run(status="waiting")
    await cases.rows.attempt(run_id, phase="discovery", status="passed", verdict="passed", score=1.0)
    for number in (1, 2):
        await cases.rows.attempt(run_id, number)
    granted = {"status": "resolved", "decision": "retry", "additional_attempts": 2, "decided_by": "ada"}
    await cases.rows.escalation(run_id, 1, decided_at=datetime.now(UTC), **granted)
    escalation_id = await cases.rows.escalation(run_id, 2)

    sprint = await cases.queries.get(run_id)
    assert (sprint.attempt, sprint.max_attempts, sprint.escalation_id) == (2, 5, escalation_id)
    assert [(each.phase, each.number) for each in sprint.attempts] == [
        ("discovery", 1),
        ("coding", 1),
        ("coding", 2),
    ]
    assert [(each.phase, each.status, each.attempts, each.max_attempts) for each in sprint.phases] == [
        ("discovery", "completed", 1, 3),
        ("coding", "waiting", 2, 5),
        ("verification", "pending", 0, 3),
    ]
    assert [each.evaluator for each in sprint.attempts[0].evaluations] == ["pytest"]
    listed = await cases.lists.page(RunQuery(limit=1))
    assert listed.items[0].model_dump() == sprint.model_dump(include=set(type(listed.items[0]).model_fields))


async def test_an_attempt_shows_its_prompt_and_candidates(cases: UseCases) -> None:
    run_id = await cases.rows.run()
    await cases.rows.attempt(run_id)
    attempt = await cases.queries.attempt(run_id, "coding", 1)
    assert attempt.prompt == "the prompt"
    assert [(each.index, each.chosen) for each in attempt.candidates] == [(0, True)]
    assert [each.evaluator for each in attempt.candidates[0].evaluations] == ["pytest"]


async def test_what_is_not_there(cases: UseCases) -> None:
    run_id = await cases.rows.run()
    with pytest.raises(NotFoundError, match="no run"):
        await cases.queries.get(uuid4())
    with pytest.raises(NotFoundError, match="no attempt 2 of phase coding"):
        await cases.queries.attempt(run_id, "coding", 2)
