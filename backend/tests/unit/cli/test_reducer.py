"""From events to what a watcher sees."""

from functools import reduce as fold
from uuid import uuid4

from app.cli.view.notices import notices
from app.cli.view.reducer import reduce
from app.cli.view.state import WatchedRun
from tests.unit.cli.fakes import Story, verdict_data


def seen(story: Story) -> WatchedRun:
    return fold(reduce, story.events, WatchedRun())


def test_an_attempt_is_followed_from_work_to_verdict() -> None:
    story = Story()
    story.begin()
    story.attempt(1, passed=False, feedback="2 tests failed")
    state = seen(story)
    attempt = state.phases[0].latest
    assert attempt is not None
    assert (state.status, attempt.step, attempt.score, attempt.tool_calls) == ("active", "failed", 0.4, 1)
    assert [each.evaluator_name for each in attempt.verdicts] == ["pytest"]


def test_evaluators_that_have_not_judged_are_known() -> None:
    story = Story()
    story.begin()
    here = ("coding", 1)
    story.tell("evaluation.started", {"evaluators": ["ruff_lint", "pytest"]}, *here)
    story.tell("evaluator.completed", verdict_data("ruff_lint", passed=True), *here)
    attempt = seen(story).phases[0].latest
    assert attempt is not None
    assert attempt.missing_evaluators == ("pytest",)


def test_events_that_come_again_change_nothing() -> None:
    story = Story()
    story.begin()
    story.attempt(1, passed=True)
    state = seen(story)
    assert all(reduce(state, event) is state for event in story.events)


def test_a_human_is_asked_and_answers() -> None:
    story = Story()
    story.begin()
    story.attempt(1, passed=False)
    escalation = story.escalate()
    waiting = seen(story)
    assert waiting.is_waiting
    assert waiting.escalation is not None
    assert waiting.escalation.id == escalation
    assert waiting.phases[0].status == "waiting"
    resolution = {"escalation_id": escalation, "decision": "retry", "decided_by": "me", "max_attempts": 5}
    story.tell("escalation.resolved", resolution, "coding", 3)
    going_on = seen(story)
    assert (going_on.status, going_on.escalation) == ("active", None)
    assert going_on.phases[0].max_attempts == 5


def test_an_end_says_who_accepted_the_work_against_the_gates() -> None:
    ends = list[str]()
    for accepted in ({}, {"accepted_by": "ada"}):
        story = Story()
        story.begin()
        story.tell("phase.completed", {"attempts": 2, "commit": "c" * 40, **accepted}, "coding", 2)
        story.tell("workflow.completed", {"commit": "c" * 40, "attempts": 2, "usage": {}})
        (last,) = notices(story.events[-1], seen(story))
        ends.append(last.text)
    commit = "c" * 12
    assert ends == [
        f"Sprint passed after 2 attempts, commit {commit}",
        f"Sprint accepted by ada after 2 attempts, commit {commit}",
    ]


def test_an_attempt_taken_over_begins_again() -> None:
    story = Story()
    story.begin()
    here = ("coding", 1)
    story.tell("attempt.started", {"prompt_chars": 1, "base_commit": "b"}, *here)
    story.tell("tool.called", {"tool": "shell", "text": "ls"}, *here)
    story.tell("attempt.interrupted", {"reason": "the worker is gone", "lost_workers": 1}, *here)
    story.tell("attempt.started", {"prompt_chars": 1, "base_commit": "b", "resumed": True}, *here)
    (attempt,) = seen(story).phases[0].attempts
    assert (attempt.tool_calls, attempt.trouble, attempt.activity) == (0, "", ())


def test_what_the_agent_does_is_kept_short_and_harmless() -> None:
    story = Story()
    story.begin()
    for number in range(10):
        story.tell("tool.called", {"tool": "shell", "text": f"echo \x1b[2J{number}"}, "coding", 1)
    attempt = seen(story).phases[0].latest
    assert attempt is not None
    assert attempt.activity == ("shell echo 7", "shell echo 8", "shell echo 9")
    assert attempt.tool_calls == 10


def test_cancelling_ends_every_phase_that_goes_on() -> None:
    story = Story()
    story.begin()
    story.tell("run.cancelled", {"by": "me", "reason": "enough"})
    state = seen(story)
    assert (state.status, state.reason, state.phases[0].status) == ("cancelled", "enough", "cancelled")
    assert state.is_final


def test_following_from_the_middle_works() -> None:
    story = Story(uuid4())
    story.begin()
    story.attempt(1, passed=True)
    state = fold(reduce, story.events[5:], WatchedRun(last_sequence=5))
    assert state.phases[0].name == "coding"
    assert state.phases[0].latest is not None
