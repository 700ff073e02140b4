"""No attempt to pass without the work passes, and no honest change that looks similar fails: part 6."""

from app.corpora.format import CorpusCase
from tests.acceptance.attacks.judging import (
    Outcomes,
    check_attempt,
    check_twin,
    judged_part,
    parametrised_part,
)

outcomes = judged_part(6)
pytest_generate_tests = parametrised_part(6)


def test_attempt_does_not_pass(attempt: CorpusCase, outcomes: Outcomes) -> None:
    check_attempt(attempt, outcomes)


def test_honest_twin_passes(twin: CorpusCase, outcomes: Outcomes) -> None:
    check_twin(twin, outcomes)
