"""Counts outcomes of pull requests, and how often these contradicted evaluators."""

from typing import cast, get_args

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Evaluation
from app.schemas.api.metrics import OutcomeMetrics
from app.schemas.api.run_lists import MetricName
from app.schemas.forges import EndedAs
from app.services.measure.links import Counts, MetricLinks
from app.services.record.cases import ScopedRuns
from app.services.record.pull_outcomes import delivered_verdicts, outcome_cases

ENDINGS = cast("tuple[EndedAs, ...]", get_args(EndedAs))


async def load_outcomes(session: AsyncSession, scoped: ScopedRuns, links: MetricLinks) -> OutcomeMetrics:
    """Return the share of each outcome among the outcomes that are settled."""
    c = outcome_cases(scoped).c
    word = c.ended_as
    counted = [func.count().filter(word == each, c.is_settled).label(each) for each in ENDINGS]
    recent = [func.count().filter(word == each, ~c.is_settled).label(f"recent_{each}") for each in ENDINGS]
    half = func.percentile_disc(0.5).within_group(c.edited_share.asc())
    statement = select(
        *counted,
        *recent,
        func.count().filter(c.is_settled).label("settled"),
        func.count().filter(word.is_(None)).label("uncompared"),
        half.filter(c.is_settled, c.edited_share.is_not(None)).label("half"),
    )
    row = (await session.execute(statement)).mappings().one()
    return OutcomeMetrics(
        shares={
            each: links.share((row[each], row["settled"]), MetricName.OUTCOME, key=each) for each in ENDINGS
        },
        edited_share=row["half"],
        recent={each: row[f"recent_{each}"] for each in ENDINGS},
        uncompared=row["uncompared"],
    )


async def load_wrong_by_outcome(session: AsyncSession, scoped: ScopedRuns) -> dict[tuple[str, str], Counts]:
    """Count the settled outcomes that contradict a verdict, of all settled ones, by evaluator and verdict."""
    cases, verdicts = outcome_cases(scoped), delivered_verdicts()
    c = cases.c
    wrong = func.count().filter(c.is_bad == (Evaluation.status == "passed"))
    statement = (
        verdicts.with_only_columns(Evaluation.evaluator, Evaluation.status, wrong, func.count())
        .join(cases, c.run_id == Attempt.run_id)
        .where(c.is_settled)
        .group_by(Evaluation.evaluator, Evaluation.status)
    )
    return {(name, status): (bad, of) for name, status, bad, of in await session.execute(statement)}
