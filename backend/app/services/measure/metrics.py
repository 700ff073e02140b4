"""Measures runs in SQL: how often gates hold, how often people are asked, and what runs cost."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import CTE, BigInteger, ColumnElement, Select, and_, cast, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions, begin_measuring
from app.db.models import Escalation, Run
from app.schemas.api.metrics import (
    Amount,
    EscalationMetrics,
    MetricQuery,
    MetricsReport,
    PassRates,
    PhaseMetrics,
    Retries,
    SpendMetrics,
)
from app.schemas.api.run_lists import MetricName
from app.schemas.runs import EscalationDecision, EscalationReason, Phase
from app.schemas.shares import Latency
from app.services.measure.conversations import load_conversations
from app.services.measure.evaluators import load_evaluator_metrics
from app.services.measure.links import MetricLinks
from app.services.measure.observed import load_observed_gates
from app.services.measure.outcomes import load_outcomes
from app.services.read.run_lists import conditions
from app.services.record.cases import (
    OVER,
    K,
    PhaseCases,
    ScopedRuns,
    has_own_usage,
    run_cases,
    scoped_runs,
)
from app.services.record.phase_outcomes import alike, counted

_Row = Mapping[Any, Any]
_PASS_AT = (MetricName.PASS_AT_1, MetricName.PASS_AT_2, MetricName.PASS_AT_3)


class MetricsService:
    """Measures runs.

    Args:
        sessions: opens short sessions.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def report(self, query: MetricQuery) -> MetricsReport:
        """Measure the runs in a scope, as of one moment."""
        async with self._sessions() as session:
            await begin_measuring(session)
            return await _report(session, query)


async def _report(session: AsyncSession, query: MetricQuery) -> MetricsReport:
    where, links = conditions(query), MetricLinks(query)
    scoped = scoped_runs(where)
    whole, phases = await _cases(session, where)
    return MetricsReport(
        at=datetime.now(UTC),
        runs=whole["runs"],
        over=whole["over"],
        passes=_passes(whole, links, None),
        retries=_retries(whole, links, None),
        phases=_phases(phases, links),
        escalations=await _escalations(session, scoped, whole, links),
        evaluators=await load_evaluator_metrics(session, scoped, links),
        observed=await load_observed_gates(session, scoped),
        outcomes=await load_outcomes(session, scoped, links),
        conversations=await load_conversations(session, scoped),
        spend=await _spend(session, where, links),
    )


def _whole(runs: CTE) -> Iterable[ColumnElement[Any]]:
    c = runs.c
    yield counted(c.runs).label("runs")
    yield counted(c.runs, c.over).label("over")
    for k in K:
        yield counted(c.runs, c[f"passed_{k}"]).label(f"passed_{k}")
        yield counted(c.runs, c[f"settled_{k}"]).label(f"settled_{k}")
    yield counted(c.runs, c.judged).label("judged")
    yield counted(c.runs, c.retried).label("retried")
    yield counted(c.runs * c.retries).label("retries")
    yield counted(c.runs * c.judged_phases).label("judged_phases")
    yield counted(c.runs, c.escalated).label("escalated")
    yield counted(c.runs, or_(c.escalated, c.over)).label("ended")


async def _cases(
    session: AsyncSession, where: list[ColumnElement[bool]]
) -> tuple[_Row, list[dict[str, Any]]]:
    """Read the figures of whole runs, and of phases by number of attempts, in one statement."""
    runs, phases = alike(where)
    whole = select(*_whole(run_cases(runs, phases))).subquery("whole")
    by_phase = _by_phase(phases).subquery("by_phase")
    row = (
        await session.execute(
            select(
                select(func.to_jsonb(whole.table_valued())).scalar_subquery(),
                select(
                    func.coalesce(func.jsonb_agg(by_phase.table_valued()), text("'[]'"))
                ).scalar_subquery(),
            )
        )
    ).one()
    return row[0], row[1]


def _by_phase(phases: PhaseCases) -> Select[*tuple[Any, ...]]:
    c = phases.rows.c
    settled: list[ColumnElement[Any]] = []
    for k in K:
        settled.append(counted(c.runs, phases.passed(k)).label(f"passed_{k}"))
        settled.append(counted(c.runs, phases.settled(k)).label(f"settled_{k}"))
    # Grouped by the number of attempts, so that the same query yields their distribution.
    return select(
        c.phase,
        c.judged,
        counted(c.runs).label("cases"),
        *settled,
        counted(c.runs, c.escalated).label("escalated"),
        counted(c.runs, phases.ended).label("ended"),
    ).group_by(c.phase, c.judged)


def _phases(rows: list[dict[str, Any]], links: MetricLinks) -> list[PhaseMetrics]:
    order = {phase.value: index for index, phase in enumerate(Phase)}
    names = sorted({row["phase"] for row in rows}, key=lambda name: (order.get(name, len(order)), name))
    return [_phase(name, [row for row in rows if row["phase"] == name], links) for name in names]


def _phase(name: str, rows: list[dict[str, Any]], links: MetricLinks) -> PhaseMetrics:
    summed = {key: sum(row[key] for row in rows) for key in rows[0] if key not in ("phase", "judged")}
    tried = {row["judged"]: row["cases"] for row in rows if row["judged"] > 0}
    summed["judged"] = summed["judged_phases"] = sum(tried.values())
    summed["retried"] = sum(count for attempts, count in tried.items() if attempts > 1)
    summed["retries"] = sum((attempts - 1) * count for attempts, count in tried.items())
    escalated = (summed["escalated"], summed["ended"])
    return PhaseMetrics(
        phase=name,
        passes=_passes(summed, links, name),
        retries=_retries(summed, links, name),
        escalated=links.share(escalated, MetricName.ESCALATED, phase=name),
        attempts=dict(sorted(tried.items())),
    )


def _passes(row: _Row, links: MetricLinks, phase: str | None) -> PassRates:
    shares = [
        links.share((row[f"passed_{k}"], row[f"settled_{k}"]), metric, phase=phase)
        for k, metric in zip(K, _PASS_AT, strict=True)
    ]
    return PassRates(pass_at_1=shares[0], pass_at_2=shares[1], pass_at_3=shares[2])


def _retries(row: _Row, links: MetricLinks, phase: str | None) -> Retries:
    judged, total = int(row["judged_phases"]), int(row["retries"])
    return Retries(
        retried=links.share((row["retried"], row["judged"]), MetricName.RETRIED, phase=phase),
        total=total,
        mean=total / judged if judged else None,
    )


async def _escalations(
    session: AsyncSession, scoped: ScopedRuns, whole: _Row, links: MetricLinks
) -> EscalationMetrics:
    asked = scoped.holding(select(Escalation), Escalation.run_id.expression)
    by_reason = asked.with_only_columns(
        Escalation.reason_kind, func.count(Escalation.run_id.distinct())
    ).group_by(Escalation.reason_kind)
    reasons: dict[str, int] = {row[0]: row[1] for row in await session.execute(by_reason)}
    waited = func.extract("epoch", Escalation.decided_at - Escalation.created_at) * 1000
    resolved = Escalation.status == "resolved"
    took = cast(func.round(waited), BigInteger)
    times = asked.with_only_columns(
        func.count().filter(Escalation.status == "open").label("open"),
        func.count().filter(resolved).label("resolved"),
        *(func.count().filter(Escalation.decision == each).label(each) for each in EscalationDecision),
        func.percentile_disc(0.5).within_group(took).filter(resolved).label("p50"),
        func.percentile_disc(0.95).within_group(took).filter(resolved).label("p95"),
    )
    row = (await session.execute(times)).mappings().one()
    return EscalationMetrics(
        rate=links.share((whole["escalated"], whole["ended"]), MetricName.ESCALATED),
        reasons={
            each.value: links.share(
                (reasons.get(each.value, 0), whole["ended"]), MetricName.ESCALATED, key=each.value
            )
            for each in EscalationReason
        },
        decisions={
            each.value: links.share((row[each], row["resolved"]), MetricName.DECIDED, key=each.value)
            for each in EscalationDecision
        },
        time_to_decision=Latency(n=row["resolved"], p50_ms=row["p50"], p95_ms=row["p95"]),
        open=row["open"],
    )


async def _spend(session: AsyncSession, where: list[ColumnElement[bool]], links: MetricLinks) -> SpendMetrics:
    asked = has_own_usage()
    measured = {
        "cost": (Run.used_cost_usd, and_(asked, Run.used_cost_usd.is_not(None))),
        "input": (Run.used_input_tokens, asked),
        "output": (Run.used_output_tokens, asked),
    }
    columns: list[ColumnElement[Any]] = [func.count().filter(asked).label("asked")]
    for name, (value, counts) in measured.items():
        columns += [
            func.count().filter(counts).label(f"{name}_n"),
            func.sum(value).filter(counts).label(f"{name}_total"),
            func.percentile_disc(0.5).within_group(value.asc()).filter(counts).label(f"{name}_p50"),
            func.percentile_disc(0.95).within_group(value.asc()).filter(counts).label(f"{name}_p95"),
        ]
    row = (await session.execute(select(*columns).where(Run.status.in_(OVER), *where))).mappings().one()
    return SpendMetrics(
        cost_usd=_amount(row, "cost"),
        cost_known=links.share((row["cost_n"], row["asked"]), MetricName.COST_KNOWN),
        input_tokens=_amount(row, "input"),
        output_tokens=_amount(row, "output"),
    )


def _amount(row: _Row, name: str) -> Amount:
    total, p50, p95 = (row[f"{name}_{each}"] for each in ("total", "p50", "p95"))
    return Amount(
        n=row[f"{name}_n"],
        total=None if total is None else float(total),
        p50=None if p50 is None else float(p50),
        p95=None if p95 is None else float(p95),
    )
