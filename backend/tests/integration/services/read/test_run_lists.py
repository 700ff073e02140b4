"""Lists of runs: every filter and order, pages without gaps, and counts that agree with the lists."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from app.core.errors import InvalidInputError
from app.db.models import ForgeReport, Run
from app.schemas.agents import AgentSpec, agent_label
from app.schemas.api.run_lists import MAX_CHOICES, RunFilter, RunQuery, RunScope, RunSort
from app.schemas.runs import RunKind, RunStatus
from app.services.read.run_lists import MAX_FACETS
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def every_page(cases: UseCases, **query: Any) -> list[UUID]:
    seen: list[UUID] = []
    cursor = None
    while True:
        page = await cases.lists.page(RunQuery.model_validate({"limit": 2, **query, "cursor": cursor}))
        seen += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return seen


FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "none": ({}, {"old", "asked", "model", "done"}),
    "since is part of it": ({"since": AT}, {"asked", "model", "done"}),
    "until is not": ({"until": AT}, {"old"}),
    "a window of nothing": ({"since": AT, "until": AT}, set()),
    "kind": ({"kind": ["sprint"]}, {"old", "asked", "model", "done"}),
    "project": ({"project": ["/home/me/shop"]}, {"old"}),
    "two projects are alternatives": ({"project": ["/home/me/shop", "/nowhere"]}, {"old"}),
    "a project with wildcards is none": ({"project": ["/home/me/%"]}, set()),
    "agent": ({"agent": ["pydantic-ai anthropic:m"]}, {"model"}),
    "status": ({"status": ["completed", "failed"]}, {"done"}),
    "phase": ({"phase": ["discovery"]}, {"old"}),
    "needs a human": ({"needs_human": True}, {"asked"}),
    "needs none": ({"needs_human": False}, {"old", "model", "done"}),
    "text and status": ({"q": "TEA", "status": ["active"]}, {"old"}),
}


@pytest.mark.parametrize(("query", "found"), FILTERS.values(), ids=FILTERS.keys())
async def test_filters_and_counts_agree(cases: UseCases, query: dict[str, Any], found: set[str]) -> None:
    source = {"kind": "local", "location": "/home/me/shop"}
    agent = {"backend": "auto", "model": "anthropic:m"}
    made = {
        "old": await cases.rows.run(
            created_at=AT - timedelta(days=1), source=source, phase="discovery", name="teatime"
        ),
        "asked": await cases.rows.run(created_at=AT, status="waiting"),
        "model": await cases.rows.run(created_at=AT, agent=agent),
        "done": await cases.rows.run(created_at=AT, status="completed", phase=None),
    }
    await cases.rows.escalation(made["asked"])
    answered = {"status": "resolved", "decision": "reject", "decided_by": "ada", "decided_at": AT}
    await cases.rows.escalation(made["done"], **answered)
    listed = await every_page(cases, **query)
    assert sorted(listed) == sorted(made[name] for name in found)
    counts = await cases.lists.counts(RunFilter.model_validate(query))
    assert counts.total == len(found)
    assert counts.needs_human == ("asked" in found)
    assert sum(counts.by_status.values()) == counts.total
    assert set(counts.by_status) == set(RunStatus)
    rows = [await cases.rows.get(each) for each in listed]
    assert counts.by_kind == {each: sum(row.kind == each for row in rows) for each in RunKind}


ORDERS = {
    RunSort.NEWEST: ["c", "b", "a"],
    RunSort.OLDEST: ["a", "b", "c"],
    RunSort.UPDATED: ["b", "a", "c"],
    RunSort.COST: ["a", "c", "b"],
    RunSort.TOKENS: ["c", "a", "b"],
}


@pytest.mark.parametrize(("sort", "names"), ORDERS.items(), ids=ORDERS.keys())
async def test_orders(cases: UseCases, sort: RunSort, names: list[str]) -> None:
    values: dict[str, dict[str, Any]] = {
        "a": {"updated_at": AT + timedelta(days=1), "used_cost_usd": 2.5, "used_input_tokens": 10},
        "b": {"updated_at": AT + timedelta(days=2), "used_cost_usd": None, "used_output_tokens": 5},
        "c": {"updated_at": AT, "used_cost_usd": 0.1, "used_input_tokens": 8, "used_output_tokens": 8},
    }
    made = {
        await cases.rows.run(created_at=AT + timedelta(seconds=index), **values[name]): name
        for index, name in enumerate("abc")
    }
    assert [made[each] for each in await every_page(cases, sort=sort, limit=1)] == names


@pytest.mark.parametrize("sort", RunSort)
async def test_equal_runs_are_on_one_page_each(cases: UseCases, sort: RunSort) -> None:
    made = [await cases.rows.run(created_at=AT, updated_at=AT) for _ in range(5)]
    seen = await every_page(cases, sort=sort)
    assert len(seen) == len(set(seen))
    assert set(seen) == set(made)


async def test_a_cursor_of_another_order_is_refused(cases: UseCases) -> None:
    for _ in range(2):
        await cases.rows.run()
    cursor = (await cases.lists.page(RunQuery(limit=1))).next_cursor
    assert cursor is not None
    for sort in (RunSort.COST, RunSort.OLDEST):
        with pytest.raises(InvalidInputError, match="'newest'") as raised:
            await cases.lists.page(RunQuery(limit=1, cursor=cursor, sort=sort))
        assert raised.value.field == "cursor"


AGENTS: dict[str, dict[str, Any]] = {
    "nothing said": {},
    "auto": {"backend": "auto"},
    "a model": {"backend": "auto", "model": "openai:gpt"},
    "a backend and a model": {"backend": "pydantic-ai", "model": "openai:gpt"},
    "a script": {
        "backend": "scripted",
        "script": {"title": "Tea 'time' %", "phases": {"coding": [{"say": "x"}]}},
    },
}


@pytest.mark.parametrize("spec", AGENTS.values(), ids=AGENTS.keys())
async def test_the_database_names_agents_as_pages_do(cases: UseCases, spec: dict[str, Any]) -> None:
    await cases.rows.run(agent=spec)
    async with cases.sessions() as session:
        named = await session.scalar(select(Run.agent_name))
    assert named == agent_label(AgentSpec.model_validate(spec))
    page = await cases.lists.page(RunQuery(agent=[named or ""]))
    assert [each.agent for each in page.items] == [named]


async def test_what_there_is_to_filter_by(cases: UseCases) -> None:
    for number in range(3):
        await cases.rows.run(source={"kind": "local", "location": f"/p{number % 2}"})
    facets = await cases.lists.facets(RunScope())
    assert [(each.value, each.runs) for each in facets.projects] == [("/p0", 2), ("/p1", 1)]
    assert [(each.value, each.runs) for each in facets.agents] == [("pydantic-ai", 3)]
    assert facets.complete
    for number in range(MAX_FACETS):
        await cases.rows.run(source={"kind": "local", "location": f"/many/{number}"})
    facets = await cases.lists.facets(RunScope())
    assert (len(facets.projects), facets.complete) == (MAX_FACETS, False)
    assert MAX_CHOICES < MAX_FACETS


async def test_a_list_shows_the_latest_score(cases: UseCases) -> None:
    run_id = await cases.rows.run(status="completed", phase=None)
    for phase, number, score in (("discovery", 1, 1.0), ("coding", 1, 0.2), ("coding", 2, 0.9)):
        await cases.rows.attempt(run_id, number, phase=phase, score=score)
    await cases.rows.attempt(run_id, 3, score=None, verdict=None, status="started")
    await cases.rows.run(created_at=AT)
    page = await cases.lists.page(RunQuery())
    assert [each.score for each in page.items] == [0.9, None]


async def test_lists_say_where_runs_are_on_a_forge(cases: UseCases) -> None:
    proposed, plain = await cases.rows.run(), await cases.rows.run()
    url = "https://forge.example/team/shop/pull/7"
    async with cases.sessions.begin() as session:
        session.add(
            ForgeReport(run_id=proposed, forge="work", repository="team/shop", pull_number=7, pull_url=url)
        )
    listed = {each.id: each for each in (await cases.lists.page(RunQuery())).items}
    assert listed[plain].forge is None
    place = listed[proposed].forge
    assert place is not None
    assert (place.repository, place.pull_number, place.pull_url) == ("team/shop", 7, url)
