"""What follows from four dimensions: the whole table, and the rules behind it."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.models.response_verdict import conclude, overall_verdict, recommend
from app.runners.evaluators.response_evaluator import (
    get_all_issues,
    get_failed_dimensions,
    is_passed,
    should_retry,
)
from app.schemas.response_evaluation import (
    DIMENSIONS,
    EvaluationDimension,
    EvaluatorOutput,
    Verdict,
)

PASSES = (True, True, True, True)
COMBINATIONS = list(product((True, False), repeat=4))


def dimensions(sufficient: tuple[bool, ...]) -> list[EvaluationDimension]:
    return [
        EvaluationDimension(
            dimension=name,
            verdict=Verdict.SUFFICIENT if good else Verdict.INSUFFICIENT,
            reasoning=f"{name} because",
            issues=[] if good else [f"{name} is bad"],
        )
        for name, good in zip(DIMENSIONS, sufficient, strict=True)
    ]


def named(sufficient: tuple[bool, ...]) -> str:
    failed = [name for name, good in zip(DIMENSIONS, sufficient, strict=True) if not good]
    return "+".join(failed) or "none"


def expected(sufficient: tuple[bool, ...], attempt: int, lacks_data: bool) -> str:
    if sufficient == PASSES:
        return "accept"
    if attempt == 3:
        return "give_partial"
    return "retry_with_more_context" if lacks_data and not sufficient[0] else "retry_with_feedback"


# Every combination of the dimensions, in each attempt, with and without a lack of data: 96 cases.
TABLE = [
    pytest.param(
        sufficient,
        attempt,
        lacks_data,
        expected(sufficient, attempt, lacks_data),
        id=f"{named(sufficient)} fails, attempt {attempt}{', lacks data' if lacks_data else ''}",
    )
    for sufficient in COMBINATIONS
    for attempt in (1, 2, 3)
    for lacks_data in (False, True)
]


@pytest.mark.parametrize(("sufficient", "attempt", "lacks_data", "recommendation"), TABLE)
def test_the_table(sufficient: tuple[bool, ...], attempt: int, lacks_data: bool, recommendation: str) -> None:
    output = conclude(dimensions(sufficient), [], attempt, lacks_data=lacks_data)
    assert output.recommendation == recommendation
    assert is_passed(output) is (sufficient == PASSES)
    assert output.overall_verdict is (Verdict.SUFFICIENT if sufficient == PASSES else Verdict.INSUFFICIENT)
    assert "+".join(get_failed_dimensions(output)) == named(sufficient).replace("none", "")
    assert [each.issue for each in output.feedback] == get_all_issues(output)
    assert all(each.suggestion for each in output.feedback)


@pytest.mark.parametrize(
    ("attempt", "max_retries", "recommendation"),
    [
        pytest.param(1, 0, "give_partial", id="no retries"),
        pytest.param(1, 1, "retry_with_feedback", id="one retry, first attempt"),
        pytest.param(2, 1, "give_partial", id="one retry, second attempt"),
        pytest.param(2, 2, "retry_with_feedback", id="at the number of retries"),
        pytest.param(3, 2, "give_partial", id="one above it"),
        pytest.param(9, 2, "give_partial", id="far above it"),
    ],
)
def test_the_boundary_of_the_recommendation(attempt: int, max_retries: int, recommendation: str) -> None:
    assert recommend(dimensions((True, False, True, True)), attempt, max_retries) == recommendation


@pytest.mark.parametrize(
    ("attempt", "max_retries", "again"),
    [
        pytest.param(1, 2, True, id="below"),
        pytest.param(2, 2, False, id="at the maximum"),
        pytest.param(3, 2, False, id="above"),
        pytest.param(2, 3, True, id="as the loop asks: second attempt"),
        pytest.param(3, 3, False, id="as the loop asks: third attempt"),
        pytest.param(1, 0, False, id="none allowed"),
        pytest.param(1, 1, False, id="first of one"),
    ],
)
def test_the_boundary_of_should_retry(attempt: int, max_retries: int, again: bool) -> None:
    assert should_retry(conclude(dimensions((False,) * 4), [], attempt), attempt, max_retries) is again
    assert not should_retry(conclude(dimensions(PASSES), [], attempt), attempt, max_retries)


def test_should_retry_allows_two_by_default() -> None:
    output = conclude(dimensions((False,) * 4), [], 1)
    assert [should_retry(output, each) for each in (1, 2)] == [True, False]


def contradiction(sufficient: tuple[bool, ...], overall: Verdict) -> EvaluatorOutput:
    return EvaluatorOutput(
        dimensions=dimensions(sufficient), overall_verdict=overall, recommendation="accept"
    )


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(contradiction((True, True, False, True), Verdict.SUFFICIENT), id="says it is good"),
        pytest.param(contradiction(PASSES, Verdict.INSUFFICIENT), id="says it is bad"),
        pytest.param(contradiction(PASSES, Verdict.PARTIAL), id="says it is partial"),
        pytest.param(
            EvaluatorOutput(
                dimensions=dimensions(PASSES)[:3],
                overall_verdict=Verdict.SUFFICIENT,
                recommendation="accept",
            ),
            id="leaves out a dimension",
        ),
        pytest.param(
            EvaluatorOutput(dimensions=[], overall_verdict=Verdict.SUFFICIENT, recommendation="accept"),
            id="judges nothing",
        ),
    ],
)
def test_an_output_that_contradicts_itself_does_not_pass(output: EvaluatorOutput) -> None:
    assert not is_passed(output)
    assert should_retry(output, 1)


@given(st.lists(st.sampled_from([True, False]), min_size=4, max_size=4), st.integers(1, 9), st.integers(0, 5))
def test_only_a_pass_is_accepted_and_every_failure_says_what_to_mend(
    sufficient: list[bool], attempt: int, retries: int
) -> None:
    output = conclude(dimensions(tuple(sufficient)), [], attempt, retries)
    assert (output.recommendation == "accept") is all(sufficient) is is_passed(output)
    assert bool(output.feedback) is not all(sufficient)
    assert (output.recommendation == "give_partial") is (not all(sufficient) and attempt > retries)


@given(st.permutations(dimensions((True, False, True, False))))
def test_the_order_of_the_dimensions_does_not_matter(given_order: list[EvaluationDimension]) -> None:
    assert overall_verdict(given_order) is Verdict.INSUFFICIENT
    assert recommend(given_order, 1) == "retry_with_feedback"
