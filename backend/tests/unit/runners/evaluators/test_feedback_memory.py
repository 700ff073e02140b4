"""The memory says what happened, and no more than each attempt may know."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from app.runners.evaluators.feedback_memory import ENDED_EARLY, AttemptRecord, FeedbackMemory
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult, EvaluationStatus

SPRINT = UUID("00000000-0000-0000-0000-00000000000a")
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def result(
    *suggestions: str,
    passed: bool = False,
    score: float = 0.0,
    feedback: str = "bad",
    status: EvaluationStatus | None = None,
) -> EvaluationResult:
    return EvaluationResult.model_validate(
        {
            "evaluator_name": "x",
            "category": EvaluationCategory.TESTING,
            "passed": passed,
            "score": score,
            "feedback": feedback,
            "suggestions": list(suggestions),
            "status": status,
        }
    )


@pytest.fixture
def memory() -> FeedbackMemory:
    return FeedbackMemory(SPRINT, "coding", "add a parser")


def test_a_record_measures_itself() -> None:
    record = AttemptRecord(1, START)
    assert (record.duration_ms, record.passed, record.aggregate_score) == (None, False, 0.0)
    record.completed_at = START + timedelta(seconds=1.5)
    record.evaluation_results = [result(passed=True, score=1.0), result(score=0.5, feedback="half")]
    assert record.duration_ms == 1500
    assert record.aggregate_score == 0.75
    assert not record.passed
    assert record.get_failed_feedback() == ["half"]


def test_no_results_are_no_pass(memory: FeedbackMemory) -> None:
    assert not memory.add_attempt("out", []).passed


def test_the_output_is_cut(memory: FeedbackMemory) -> None:
    assert len(memory.add_attempt("x" * 5000, []).phase_output) == 2000


def test_attempts_are_counted_from_one(memory: FeedbackMemory) -> None:
    assert memory.current_attempt == 1
    assert memory.latest_attempt is None
    for number in (1, 2):
        assert memory.add_attempt("", [result()]).attempt_number == number
        assert memory.can_retry
    memory.add_attempt("", [result()])
    assert memory.current_attempt == 4
    assert not memory.can_retry


def test_an_escalation_ends_retries(memory: FeedbackMemory) -> None:
    memory.escalate("stuck")
    assert not memory.can_retry
    assert memory.to_dict()["escalation_reason"] == "stuck"


def test_issues_are_collected_and_counted(memory: FeedbackMemory) -> None:
    memory.add_attempt("", [result("fix a at line 1", "fix b")])
    memory.add_attempt("", [result("fix a at line 7"), result("fix c")])
    insights = memory.accumulated_insights
    assert insights["recurring_issues"] == ["fix a at line 1", "fix b", "fix c"]
    assert insights["issue_counts"] == {"fix a at line 1": 2, "fix b": 1, "fix c": 1}
    assert insights["successful_patterns"] == ["fix b"]
    assert memory.recurring_issues == ["fix a at line 1"]


def test_an_issue_named_twice_in_one_attempt_does_not_recur(memory: FeedbackMemory) -> None:
    memory.add_attempt("", [result("fix a"), result("fix a")])
    assert memory.recurring_issues == []


def test_an_issue_that_comes_back_was_not_solved(memory: FeedbackMemory) -> None:
    for issues in (["a"], ["b"], ["a"]):
        memory.add_attempt("", [result(*issues)])
    assert memory.accumulated_insights["successful_patterns"] == ["b"]


def test_silence_of_an_evaluator_without_verdict_solves_nothing(memory: FeedbackMemory) -> None:
    memory.add_attempt("", [result("a")])
    memory.add_attempt("", [result(status=EvaluationStatus.ERRORED)])
    assert memory.accumulated_insights["successful_patterns"] == []
    memory.add_attempt("", [result(passed=True, score=1.0)])
    assert memory.accumulated_insights["successful_patterns"] == ["a"]


def test_a_passed_result_suggests_nothing_to_fix(memory: FeedbackMemory) -> None:
    memory.add_attempt("", [result("could be nicer", passed=True)])
    assert memory.accumulated_insights["recurring_issues"] == []


def test_context_grows_with_each_retry(memory: FeedbackMemory) -> None:
    always = {"sprint_id", "phase", "original_goal", "attempt_number", "max_attempts"}
    first = memory.get_optimization_context()
    assert set(first) == always
    assert first["sprint_id"] == str(SPRINT)

    memory.add_attempt("o" * 900, [result("a", score=0.25)])
    second = memory.get_optimization_context()
    assert set(second) == always | {"previous_feedback", "previous_score"}
    assert (second["previous_feedback"], second["previous_score"]) == (["bad"], 0.25)

    memory.add_attempt("p", [result("a", score=0.5)])
    third = memory.get_optimization_context()
    assert set(third) == always | {"attempt_history", "recurring_issues", "analysis"}
    assert third["recurring_issues"] == ["a"]
    assert third["attempt_history"][0] == {
        "attempt": 1,
        "score": 0.25,
        "passed": False,
        "feedback": ["bad"],
        "output": "o" * 500,
    }
    assert third["analysis"] == (
        "2 attempts so far. Score trend: Improving (0.25 to 0.50). Recurring issues: a"
    )


def test_an_equal_score_is_no_improvement(memory: FeedbackMemory) -> None:
    memory.add_attempt("", [result(score=0.5)])
    memory.add_attempt("", [result(score=0.5)])
    assert "Not improving (0.50 to 0.50)" in memory.get_optimization_context()["analysis"]


def test_the_analysis_names_three_issues_at_most(memory: FeedbackMemory) -> None:
    for _ in range(2):
        memory.add_attempt("", [result("a", "b", "c", "d")])
    assert memory.get_optimization_context()["analysis"].endswith("Recurring issues: a; b; c")


def test_the_summary_is_markdown(memory: FeedbackMemory) -> None:
    assert memory.get_summary_for_prompt() == ""
    memory.add_attempt("", [result("fix a", score=0.4)])
    summary = memory.get_summary_for_prompt()
    assert summary == (
        "## Previous Attempts for coding Phase\n\nYou are on attempt 2 of 3.\n\n"
        "### Attempt 1: FAILED (Score: 0.40)\nIssues to fix:\n- fix a"
    )
    memory.add_attempt("", [result(passed=True, score=1.0)])
    final = memory.get_summary_for_prompt()
    assert "Attempt 2: PASSED (Score: 1.00)" in final
    assert any("CRITICAL" in line and "FINAL attempt" in line for line in final.splitlines())


def test_guidance_is_always_shown(memory: FeedbackMemory) -> None:
    memory.guidance.append("use the standard library")
    assert memory.get_summary_for_prompt() == "### Guidance from the reviewer\n- use the standard library"
    memory.add_attempt("", [result("fix a")])
    summary = memory.get_summary_for_prompt()
    assert summary.index("fix a") < summary.index("use the standard library")


def test_the_memory_is_json(memory: FeedbackMemory) -> None:
    memory.add_attempt("o", [result("a")], "prompt", "trace", started_at=START, completed_at=START)
    as_dict = json.loads(json.dumps(memory.to_dict()))
    assert as_dict["attempts"] == [
        {
            "attempt_number": 1,
            "started_at": START.isoformat(),
            "completed_at": START.isoformat(),
            "passed": False,
            "score": 0.0,
            "feedback": ["bad"],
            "trace_id": "trace",
        }
    ]
    assert as_dict["sprint_id"] == str(SPRINT)


def test_agents_are_told_the_score_that_decided(memory: FeedbackMemory) -> None:
    skipped = result(passed=True, score=1.0)
    memory.add_attempt("", [skipped, result("fix a", score=0.5)], verdict_score=0.5)
    assert memory.attempts[0].aggregate_score == 0.75
    assert "### Attempt 1: FAILED (Score: 0.50)" in memory.get_summary_for_prompt()
    assert memory.get_optimization_context()["previous_score"] == 0.5


def test_the_next_prompt_says_why_the_work_ended_early(memory: FeedbackMemory) -> None:
    memory.add_attempt(f"{ENDED_EARLY} it called list_files 8 times in a row", [result()])
    assert "it called list_files 8 times in a row" in memory.get_summary_for_prompt()
    memory.add_attempt("I did it all", [result()])
    assert "I did it all" not in memory.get_summary_for_prompt()


def test_the_next_prompt_says_that_no_file_was_changed(memory: FeedbackMemory) -> None:
    memory.add_attempt("I did it all", [result()])
    assert "No file was changed" not in memory.get_summary_for_prompt()
    memory.add_attempt("I did it all", [result()]).changed_nothing = True
    summary = memory.get_summary_for_prompt()
    assert summary.count("No file was changed") == 1
    assert summary.index("Attempt 2") < summary.index("No file was changed")
