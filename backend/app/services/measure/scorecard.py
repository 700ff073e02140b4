"""Computes error rates from verdicts on labelled cases. Pure."""

from collections.abc import Callable, Iterable, Sequence

from app.core.intervals import wilson
from app.schemas.calibration import CalibrationReport, CaseNote, CaseOutcome, Label, Rate, Scorecard


def report(corpus: str, outcomes: Iterable[CaseOutcome], seconds: float) -> CalibrationReport:
    """Count the outcomes of a corpus, for the panel and for each evaluator with at least one verdict.

    Args:
        corpus: the corpus's name.
        outcomes: each case once, in any order.
        seconds: wall-clock time of the whole calibration.
    """
    every = sorted(outcomes, key=lambda each: each.name)
    findings = [_finding(each, each.verdict, each.reason) for each in every]
    paired = list(zip(every, findings, strict=True))
    return CalibrationReport(
        corpus=corpus,
        cases={label: sum(each.label is label for each in every) for label in Label},
        seconds=seconds,
        panel=_scorecard("panel", findings),
        evaluators=_evaluators(every),
        surprises=[finding for outcome, finding in paired if outcome.is_surprise],
        mended=[finding for outcome, finding in paired if outcome.residual and outcome.verdict != "passed"],
        outcomes=every,
    )


def rate(count: int, of: int) -> Rate:
    """Return a count with the 95 % interval of its share."""
    low, high = wilson(count, of)
    return Rate(count=count, of=of, low=low, high=high)


def _evaluators(outcomes: Sequence[CaseOutcome]) -> list[Scorecard]:
    names = dict.fromkeys(said.evaluator for each in outcomes for said in each.said)
    cards: list[Scorecard] = []
    for name in names:
        asked = [(each, said) for each in outcomes for said in each.said if said.evaluator == name]
        findings = [_finding(each, said.status, said.feedback) for each, said in asked]
        last = asked[-1][1]
        cards.append(_scorecard(name, findings, last.version, gate=any(said.gate for _, said in asked)))
    return cards


def _scorecard(name: str, findings: Sequence[CaseNote], version: str = "", *, gate: bool = True) -> Scorecard:
    good = [each for each in findings if each.label is Label.GOOD]
    others = [each for each in findings if each.label is not Label.GOOD]
    passed, failed = _with(others, "passed"), _with(good, "failed")
    unjudged, skipped = _with(findings, "errored"), _with(findings, "skipped")
    return Scorecard(
        name=name,
        version=version,
        gate=gate,
        bad_passed=rate(len(passed), len(others)),
        good_failed=rate(len(failed), len(good)),
        errored=rate(len(unjudged), len(findings)),
        skipped=rate(len(skipped), len(findings)),
        passed=passed,
        failed=failed,
        unjudged=unjudged,
    )


def _with(findings: Sequence[CaseNote], verdict: str) -> list[CaseNote]:
    return [each for each in findings if each.verdict == verdict]


def _finding(outcome: CaseOutcome, verdict: str, reason: str) -> CaseNote:
    return CaseNote(
        name=outcome.name,
        label=outcome.label,
        about=outcome.about,
        verdict=verdict,
        reason=reason,
        residual=outcome.residual,
    )


def by_area(outcomes: Iterable[CaseOutcome], wrong: Callable[[CaseOutcome], bool]) -> dict[str, Rate]:
    """Count the wrong outcomes of each area; areas are in order of name."""
    every = list(outcomes)
    areas = sorted({each.area for each in every})
    members = {area: [each for each in every if each.area == area] for area in areas}
    return {area: rate(sum(map(wrong, those)), len(those)) for area, those in members.items()}
