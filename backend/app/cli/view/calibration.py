"""Renders the results of a corpus as text."""

from collections.abc import Iterable, Iterator, Sequence

from app.cli.view.text import one_line
from app.cli.view.words import duration, plural
from app.schemas.calibration import CalibrationReport, CaseNote, CaseOutcome, Rate, Scorecard

Line = tuple[str, str]
"""Text and its style."""

_REASON = 300
_HEAD = ("", "bad passed", "good failed", "no verdict", "nothing to check")


def report_lines(report: CalibrationReport, *, alone: bool) -> Iterator[Line]:
    """Yield the table, and the cases behind it.

    Args:
        report: the counts.
        alone: True also lists the bad cases that single evaluators passed. In a panel each evaluator looks
            for
            something else, so most of these are no fault.
    """
    labels = ", ".join(f"{count} {label.value}" for label, count in report.cases.items())
    total = sum(report.cases.values())
    yield f"{one_line(report.corpus)}: {plural(total, 'case')} ({labels}), {duration(report.seconds)}", "bold"
    yield from _table([report.panel, *report.evaluators])
    yield from _listed("Wrong verdicts", report.surprises, "red")
    yield from _listed(
        "Passed, as is known", [each for each in report.panel.passed if each.residual], "yellow"
    )
    yield from _listed("Known to pass, but no longer passes: remove the residual", report.mended, "yellow")
    yield from _listed("No verdict", report.panel.unjudged, "magenta")
    for card in report.evaluators:
        yield from _listed(f"{card.name} failed good cases", card.failed, "")
        if alone:
            yield from _listed(f"{card.name} passed what must not pass", card.passed, "")


def outcome_line(outcome: CaseOutcome, done: int, total: int) -> Line:
    """Return the progress line for one judged case."""
    words = f"{done}/{total} {outcome.name}: {outcome.label.value}, {outcome.verdict}"
    return (f"{words} - wrong", "red") if outcome.is_surprise else (words, "bright_black")


def rate_words(rate: Rate) -> str:
    """Return a rate as `n of N`, its share, and the 95 % interval."""
    if rate.of == 0:
        return "0 of 0"
    return (
        f"{rate.count} of {rate.of}  {100 * rate.count / rate.of:.1f} % "
        f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
    )


def _table(cards: Sequence[Scorecard]) -> Iterator[Line]:
    rows = [
        (
            f"{card.name}{'' if card.gate else ' (adviser)'}",
            rate_words(card.bad_passed),
            rate_words(card.good_failed),
            f"{card.errored.count} of {card.errored.of}",
            f"{card.skipped.count} of {card.skipped.of}",
        )
        for card in cards
    ]
    widths = [max(map(len, column)) for column in zip(_HEAD, *rows, strict=True)]
    for number, row in enumerate([_HEAD, *rows]):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  " + "   ".join(cells).rstrip(), "bold" if number == 1 else ""


def _listed(title: str, findings: Iterable[CaseNote], style: str) -> Iterator[Line]:
    every = list(findings)
    if not every:
        return
    yield "", ""
    yield f"{title}: {len(every)}", style
    for each in every:
        known = f" (known: {one_line(each.residual, _REASON)})" if each.residual else ""
        yield (
            f"  {each.name} ({each.label.value}, {each.verdict}) {one_line(each.about)}: "
            f"{one_line(each.reason, _REASON)}{known}",
            "",
        )
