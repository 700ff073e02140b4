"""The contract of the module that clients and other programs import events from."""

from uuid import uuid4

from app.core.websocket_events import (
    EvaluationCompletedEvent,
    EvaluationData,
    SprintEventType,
)


def test_the_event_that_closes_an_evaluation() -> None:
    sprint_id = uuid4()
    verdict = EvaluationData(
        evaluator_name="ruff_lint",
        category="compliance",
        passed=False,
        score=0.5,
        feedback="5 lint errors",
        suggestions=["F401 in a.py"],
    )
    event = EvaluationCompletedEvent.create(sprint_id, "coding", 2, [verdict], overall_passed=False)
    assert event.event is SprintEventType.EVALUATION_COMPLETED
    assert (event.sprint_id, event.run_id, event.sequence) == (sprint_id, sprint_id, 0)
    assert event.data["phase"] == "coding"
    assert event.data["attempt"] == 2
    assert event.data["overall_passed"] is False
    assert event.data["evaluations"] == [verdict]


def test_values_that_documents_fix() -> None:
    fixed = {
        *(f"evaluation.{each}" for each in ("started", "completed", "failed")),
        *(f"candidate.{each}" for each in ("started", "generated", "failed")),
        *(f"phase.{each}" for each in ("started", "completed", "failed")),
        *(f"workflow.{each}" for each in ("status", "started", "completed", "failed")),
        *("judge.started", "judge.decided", "tool.called", "tool.result"),
        *("optimization.started", "escalation.required"),
    }
    assert fixed <= {each.value for each in SprintEventType}
