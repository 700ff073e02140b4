"""Every number of the metrics is the one that counting by hand gives, and lists exactly its runs."""

import random
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import null, select, text, update

from app.db.migrate import alembic_config
from app.db.models import Run
from app.schemas.api.metrics import MetricQuery, MetricsReport, Trend, TrendQuery
from app.services.measure.metrics import MetricsService
from app.services.measure.trends import TrendService
from tests.integration.services.loop_support import NEVER, LoopEngine, Parts, succeeds_at
from tests.integration.services.measure.stories import (
    GAVE_UP,
    START,
    STORIES,
    TROUBLE,
    Story,
    check,
    keep,
    shares,
    tell,
)
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def check_all(cases: UseCases, report: MetricsReport, told: list[Story]) -> None:
    """Compare what SQL counted with what counting by hand gives."""

    def runs(found: Callable[[Story], bool | None]) -> set[UUID | None]:
        return {each.id for each in told if found(each)}

    for k in (1, 2, 3):
        whole = getattr(report.passes, f"pass_at_{k}")
        await check(
            cases, whole, runs(lambda s, k=k: s.whole_pass_at(k)),
            runs(lambda s, k=k: s.whole_pass_at(k) is not None),
        )  # fmt: skip
        for phase in report.phases:
            name = phase.phase
            await check(
                cases, getattr(phase.passes, f"pass_at_{k}"),
                runs(lambda s, n=name, k=k: s.pass_at(n, k)),
                runs(lambda s, n=name, k=k: s.pass_at(n, k) is not None),
            )  # fmt: skip
    await check(
        cases, report.escalations.rate, runs(lambda s: bool(s.asked)), runs(lambda s: bool(s.asked) or s.over)
    )
    for reason in (*GAVE_UP, *TROUBLE):
        await check(
            cases, report.escalations.reasons[reason],
            runs(lambda s, r=reason: any(r == each for _, _, each in s.asked)),
            runs(lambda s: bool(s.asked) or s.over),
        ) if reason in {r for s in told for _, _, r in s.asked} else None  # fmt: skip
    for phase in report.phases:
        name = phase.phase
        await check(
            cases, phase.retries.retried, runs(lambda s, n=name: s.judged(n) > 1),
            runs(lambda s, n=name: s.judged(n) > 0),
        )  # fmt: skip
        assert phase.retries.total == sum(max(each.judged(name) - 1, 0) for each in told)
        assert sum(phase.attempts.values()) == phase.retries.retried.of
    assert report.runs == len(told)
    assert report.over == len(runs(lambda s: s.over))


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "counted"])
@pytest.mark.parametrize("name", STORIES)
async def test_one_run(cases: UseCases, name: str, kept: bool) -> None:
    story = STORIES[name]
    await tell(cases, story, kept=kept)
    await check_all(cases, await MetricsService(cases.sessions).report(MetricQuery()), [story])


async def test_every_story_together(cases: UseCases) -> None:
    for story in STORIES.values():
        await tell(cases, story, kept=True)
    report = await MetricsService(cases.sessions).report(MetricQuery())
    await check_all(cases, report, list(STORIES.values()))
    at_1 = report.passes.pass_at_1
    assert (at_1.count, at_1.of) == (2, 11), "the first go, and the one whose key was missing at first"


@pytest.mark.parametrize("seed", range(3))
async def test_runs_that_went_in_any_way(cases: UseCases, seed: int) -> None:
    dice = random.Random(seed)
    told: list[Story] = []
    for _ in range(15):
        phases: dict[str, list[str]] = {}
        asked: list[tuple[str, int, str]] = []
        for phase in ("coding", "verification")[: dice.randint(0, 2)]:
            count = dice.randint(1, 5)
            phases[phase] = ["failed"] * (count - 1) + [dice.choice(["passed", "failed", "started"])]
            if dice.random() < 0.4:
                asked.append((phase, dice.randint(0, count), dice.choice([*GAVE_UP, *TROUBLE])))
        status = dice.choice(["active", "waiting", "completed", "failed", "cancelled"])
        told.append(Story(status, phases, asked))
        await tell(cases, told[-1], created_at=START + timedelta(days=dice.randint(0, 20)))
    counted = await measured(cases)
    await check_all(cases, counted[0], told)
    for at, story in enumerate(told):
        assert story.id is not None
        if story.status in ("completed", "failed", "cancelled"):
            await keep(cases, story.id)
        if at % 5 == 0:
            assert await measured(cases) == counted, "whatever of it is kept, the figures are the same"
    assert await measured(cases) == counted


async def measured(cases: UseCases) -> tuple[MetricsReport, MetricsReport, Trend]:
    """All reports and the trend, without the moment at which they were made."""
    service, week = MetricsService(cases.sessions), MetricQuery(since=START + timedelta(days=7))
    every, later = await service.report(MetricQuery()), await service.report(week)
    trend = await TrendService(cases.sessions).trend(TrendQuery())
    return every.model_copy(update={"at": START}), later.model_copy(update={"at": START}), trend


async def test_who_ends_a_run_keeps_what_became_of_it(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(evaluator=succeeds_at(2)))
    completed = (await engine.until_rest(await engine.start())).id
    engine.parts.evaluator = NEVER
    failed = (await engine.until_rest(await engine.start(max_iterations=3))).id
    asked = Story("waiting", {"coding": ["failed"] * 3}, [("coding", 3, "attempts_exhausted")])
    cancelled = await tell(cases, asked)
    await cases.cancels.cancel(cancelled, "", "ada")
    kept = {each: (await cases.rows.get(each)).outcomes for each in (completed, failed, cancelled)}
    assert kept == {
        completed: [["loop", 2, 2, False, False]],
        failed: [["loop", 3, None, False, False]],
        cancelled: [["coding", 3, None, True, True]],
    }
    waiting = await tell(cases, STORIES["gave up"])
    assert (await cases.rows.get(waiting)).outcomes is None, "it may go on"


async def test_runs_of_before_get_the_same(cases: UseCases, database_url: str) -> None:
    # When that migration ran, no attempt could be steered.
    for story in (each for each in STORIES.values() if not each.steered):
        await tell(cases, story, kept=True)
    every = select(Run.id, Run.outcomes)
    revision = ScriptDirectory.from_config(alembic_config(database_url)).get_revision("0011")
    async with cases.sessions.begin() as session:
        kept = {row[0]: row[1] for row in await session.execute(every)}
        await session.execute(update(Run).values(outcomes=null()))
        await session.execute(text(revision.module.FILL))
        assert {row[0]: row[1] for row in await session.execute(every)} == kept
    assert sum(each is None for each in kept.values()) == 5, "who is not over goes on"


async def test_no_data_is_null_and_never_zero(cases: UseCases) -> None:
    report = await MetricsService(cases.sessions).report(MetricQuery())
    every = list(shares(report))
    assert len(every) >= 14
    assert all((each.value, each.low, each.high, each.of) == (None, None, None, 0) for each in every)
    assert (report.runs, report.phases, report.evaluators, report.retries.mean) == (0, [], [], None)
    assert report.escalations.time_to_decision.model_dump() == {"n": 0, "p50_ms": None, "p95_ms": None}
    assert report.spend.cost_usd.model_dump() == {"n": 0, "total": None, "p50": None, "p95": None}
    assert (await TrendService(cases.sessions).trend(TrendQuery())).points == []
