"""Limits and pauses of attempts that are tried again under their own number."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.runners.facts import AttemptFacts
from app.runners.retry_limits import backoff_seconds, beyond_limit, lost_workers, rest_until
from app.schemas.runs import AttemptState, EscalationReason, RunPolicy

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = RunPolicy()


def test_backoff_doubles_up_to_five_minutes() -> None:
    pauses = [backoff_seconds(failures, POLICY) for failures in range(1, 10)]
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300]


def test_a_rest_ends_after_the_pause() -> None:
    assert rest_until(2, POLICY, NOW) == NOW + timedelta(seconds=4)


@pytest.mark.parametrize(("state", "lost"), [(AttemptState.STARTED, 2), (AttemptState.PRODUCED, 1)])
def test_an_attempt_left_half_done_has_lost_one_more_worker(state: AttemptState, lost: int) -> None:
    assert lost_workers(AttemptFacts(1, state, lost_workers=1)) == lost


def test_one_failure_is_not_beyond_the_limit() -> None:
    once = AttemptFacts(1, AttemptState.AGENT_FAILED, agent_failures=1, evaluation_failures=1)
    assert beyond_limit(once, NOW, POLICY) is None


@pytest.mark.parametrize(
    ("state", "reason", "whose"),
    [
        (AttemptState.AGENT_FAILED, EscalationReason.AGENT_UNAVAILABLE, "The model was unavailable"),
        (
            AttemptState.PRODUCED,
            EscalationReason.EVALUATOR_UNAVAILABLE,
            "The evaluators' model was unava",
        ),
    ],
)
def test_the_reason_says_whose_model_was_waited_for(
    state: AttemptState, reason: EscalationReason, whose: str
) -> None:
    since = NOW - timedelta(seconds=POLICY.max_unavailable_seconds)
    last = AttemptFacts(1, state, unavailable_failures=4, unavailable_since=since, error="refused")
    trouble = beyond_limit(last, NOW, POLICY)
    assert trouble is not None
    assert trouble[0] is reason
    assert trouble[1].startswith(whose)


def test_the_reason_says_that_no_file_was_changed() -> None:
    last = AttemptFacts(1, AttemptState.AGENT_FAILED, agent_failures=4, error="100 requests were made")
    said = beyond_limit(last, NOW, POLICY)
    silent = beyond_limit(replace(last, changed_nothing=True), NOW, POLICY)
    assert said is not None
    assert silent is not None
    assert silent[1] == f"{said[1]}. No file was changed"
