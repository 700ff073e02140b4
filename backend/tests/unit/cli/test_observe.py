"""The report on observed gates in words: figures of each gate, then what it would have blocked."""

from datetime import UTC, datetime
from uuid import UUID

from app.cli.commands.observe import report_lines
from app.core.intervals import share
from app.schemas.api.observed import HumanWord, ObservedGate, ObserveReport, WouldBlock

AT = datetime(2026, 5, 1, tzinfo=UTC)
RUN = UUID("12345678-0000-4000-8000-000000000000")


def gate(name: str, blocks: int, overruled: int) -> ObservedGate:
    return ObservedGate(
        evaluator=name,
        verdicts=9,
        failed=share(blocks, 9),
        errored=share(0, 9),
        would_block=share(blocks, 9),
        runs=min(blocks, 1),
        overruled=share(overruled, blocks),
        confirmed=share(0, blocks),
        first_at=AT,
        last_at=AT,
    )


def blocked(evaluator: str, word: HumanWord) -> WouldBlock:
    return WouldBlock(
        evaluator=evaluator,
        status="failed",
        feedback="2 findings\x1b[2J",
        evaluated_at=AT,
        run_id=RUN,
        run_name="Fix it",
        phase="coding",
        attempt=2,
        word=word,
    )


def test_the_report_says_what_each_gate_would_have_blocked() -> None:
    report = ObserveReport(
        at=AT,
        gates=[gate("lint", 2, 1), gate("types", 0, 0)],
        would_block=[blocked("lint", HumanWord.OVERRULED), blocked("lint", HumanWord.NONE)],
    )
    lines = list(report_lines(report))
    assert lines[0] == "lint    observed, 9 verdicts"
    assert lines[1].startswith("  would block  22%, 2 of 9 ")
    assert lines[1].endswith(", in 1 run")
    assert lines[2].startswith("  overruled    50%, 1 of 2 ")
    assert lines[4].startswith("    failed 12345678 Fix it, coding 2 [overruled]: 2 findings")
    assert lines[5].startswith("    failed 12345678 Fix it, coding 2: 2 findings")
    assert lines[6] == "types    observed, 9 verdicts"
    assert lines[8] == "  overruled    no data (n = 0)"
    assert "\x1b" not in "".join(lines)
