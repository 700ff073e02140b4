"""Counting: who was wrong, out of how many, and what is neither right nor wrong."""

from hypothesis import given
from hypothesis import strategies as st

from app.schemas.calibration import CaseOutcome, Label, Rate, Said
from app.services.measure.scorecard import by_area, report


def said(evaluator: str, status: str, feedback: str = "why", *, gate: bool = True) -> Said:
    return Said(evaluator=evaluator, version="2", gate=gate, status=status, feedback=feedback)


def outcome(
    name: str, label: Label, verdict: str, *each: Said, residual: str | None = None, area: str = ""
) -> CaseOutcome:
    return CaseOutcome(
        name=name,
        label=label,
        area=area,
        about="about",
        residual=residual,
        verdict=verdict,
        reason=f"{name} is {verdict}",
        seconds=0.1,
        said=list(each),
    )


def counted(rate: Rate) -> tuple[int, int]:
    return rate.count, rate.of


def test_a_case_without_a_verdict_is_neither_and_leaves_no_denominator() -> None:
    made = report(
        "corpus",
        [
            outcome("a", Label.GOOD, "passed"),
            outcome("b", Label.GOOD, "failed"),
            outcome("c", Label.GOOD, "errored"),
            outcome("d", Label.BAD, "passed"),
            outcome("e", Label.GAMED, "errored"),
            outcome("f", Label.GAMED, "failed"),
        ],
        1.0,
    )
    assert counted(made.panel.bad_passed) == (1, 3)
    assert counted(made.panel.good_failed) == (1, 3)
    assert counted(made.panel.errored) == (2, 6)
    assert [each.name for each in made.surprises] == ["b", "d"]
    assert [each.name for each in made.panel.unjudged] == ["c", "e"]
    assert made.cases == {Label.GOOD: 3, Label.BAD: 1, Label.GAMED: 2}


def test_a_known_residual_counts_as_passed_but_is_no_surprise() -> None:
    known = outcome("a", Label.GAMED, "passed", residual="nothing can tell")
    gone = outcome("b", Label.GAMED, "failed", residual="was so once")
    made = report("corpus", [known, gone], 1.0)
    assert counted(made.panel.bad_passed) == (1, 2)
    assert made.surprises == []
    assert [each.name for each in made.mended] == ["b"]


def test_an_evaluator_is_counted_over_the_cases_it_was_asked_about() -> None:
    made = report(
        "corpus",
        [
            outcome("a", Label.GOOD, "passed", said("lint", "failed", "style"), said("tests", "passed")),
            outcome("b", Label.BAD, "failed", said("lint", "skipped"), said("tests", "passed")),
            outcome("c", Label.BAD, "failed", said("lint", "errored", gate=False)),
        ],
        1.0,
    )
    lint, tests = made.evaluators
    assert (lint.name, lint.version, lint.gate, tests.name) == ("lint", "2", True, "tests")
    assert counted(lint.good_failed) == (1, 1)
    assert [(each.name, each.reason) for each in lint.failed] == [("a", "style")]
    assert [counted(each) for each in (lint.bad_passed, lint.errored, lint.skipped)] == [
        (0, 2),
        (1, 3),
        (1, 3),
    ]
    assert counted(tests.bad_passed) == (1, 1)


def test_an_empty_corpus_says_nothing() -> None:
    made = report("corpus", [], 0.0)
    assert (counted(made.panel.bad_passed), made.panel.bad_passed.high) == ((0, 0), 1.0)


def test_areas_are_counted_apart() -> None:
    outcomes = [outcome(name, Label.BAD, "passed", area=name[0]) for name in ("x1", "x2", "y1")]
    wrong = {area: counted(rate) for area, rate in by_area(outcomes, lambda each: each.name == "x2").items()}
    assert wrong == {"x": (1, 2), "y": (0, 1)}


_OUTCOMES = st.lists(
    st.builds(
        outcome,
        st.uuids().map(str),
        st.sampled_from(list(Label)),
        st.sampled_from(["passed", "failed", "errored"]),
        residual=st.sampled_from([None, "known"]),
    ),
    max_size=30,
)


@given(_OUTCOMES)
def test_every_case_is_counted_once(outcomes: list[CaseOutcome]) -> None:
    made = report("corpus", outcomes, 1.0)
    panel = made.panel
    right = sum(
        (each.label is Label.GOOD and each.verdict == "passed")
        or (each.label is not Label.GOOD and each.verdict == "failed")
        for each in outcomes
    )
    wrong = panel.bad_passed.count + panel.good_failed.count
    assert right + wrong + panel.errored.count == len(outcomes)
    assert panel.bad_passed.of + panel.good_failed.of == len(outcomes) == sum(made.cases.values())
    assert len(made.surprises) == wrong - sum(1 for each in panel.passed if each.residual)
