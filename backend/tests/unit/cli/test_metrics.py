"""Metrics in words: no data is never 0 %."""

from datetime import UTC, datetime

import pytest

from app.cli.commands.metrics import metrics_lines
from app.cli.view.words import share_words
from app.core.intervals import share
from app.schemas.api.metrics import (
    Amount,
    EscalationMetrics,
    EvaluatorMetrics,
    MetricQuery,
    MetricsReport,
    OutcomeMetrics,
    PassRates,
    Retries,
    SpendMetrics,
)
from app.schemas.api.run_lists import MetricName
from app.schemas.shares import Latency
from app.services.measure.links import MetricLinks

LINKS = MetricLinks(MetricQuery())
NOTHING = Latency(n=0, p50_ms=None, p95_ms=None)
NO_AMOUNT = Amount(n=0, total=None, p50=None, p95=None)

SHARES = {
    "no cases": (0, 0, "no data (n = 0)"),
    "none of some": (0, 4, "0%, 0 of 4 (0% to 49%)"),
    "some": (9, 11, "82%, 9 of 11 (52% to 95%)"),
    "all": (3, 3, "100%, 3 of 3 (44% to 100%)"),
}


@pytest.mark.parametrize(("count", "of", "words"), SHARES.values(), ids=SHARES.keys())
def test_shares(count: int, of: int, words: str) -> None:
    assert share_words(share(count, of)) == words


def test_a_report_without_runs_has_no_percent_at_all() -> None:
    none = LINKS.share((0, 0), MetricName.ESCALATED)
    passes = PassRates(pass_at_1=none, pass_at_2=none, pass_at_3=none)
    said = dict.fromkeys(("passed", "failed", "errored", "skipped", "wrong_passes", "wrong_fails"), none)
    said |= dict.fromkeys(("wrong_passes_by_outcome", "wrong_fails_by_outcome"), none)
    report = MetricsReport(
        at=datetime(2026, 5, 1, tzinfo=UTC),
        runs=0,
        over=0,
        passes=passes,
        retries=Retries(retried=none, total=0, mean=None),
        phases=[],
        escalations=EscalationMetrics(
            rate=none, reasons={"no_progress": none}, decisions={}, time_to_decision=NOTHING, open=0
        ),
        evaluators=[EvaluatorMetrics(evaluator="a\x1b[2J", gate=True, verdicts=0, latency=NOTHING, **said)],
        outcomes=OutcomeMetrics(
            shares={"closed": none}, edited_share=None, recent={"merged_edited": 0}, uncompared=0
        ),
        spend=SpendMetrics(
            cost_usd=NO_AMOUNT, cost_known=none, input_tokens=NO_AMOUNT, output_tokens=NO_AMOUNT
        ),
    )
    text = "\n".join(metrics_lines(report))
    assert text.startswith("0 runs, 0 of them over\n")
    one = report.model_copy(update={"runs": 1, "spend": _spent(report.spend, 0.002)})
    words = list(metrics_lines(one))
    assert (words[0], words[-1]) == (
        "1 run, 0 of them over",
        "cost         < $0.01, known for no data (n = 0)",
    )
    assert "no data" in text
    assert "%" not in text
    assert "$" not in text
    assert "\x1b" not in text


def _spent(spend: SpendMetrics, usd: float) -> SpendMetrics:
    return spend.model_copy(update={"cost_usd": Amount(n=1, total=usd, p50=usd, p95=usd)})
