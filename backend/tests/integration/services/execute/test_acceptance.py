"""What a human accepted is not asked again in the next phase, as long as it is the same finding."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.db.models import Evaluation
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.api.escalations import EscalationResolve
from app.schemas.questions import Question, QuestionKind
from app.schemas.runs import EscalationDecision
from tests.integration.services.engine_support import Agents, Engine
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

FAILED, ERRORED = EvaluationStatus.FAILED, EvaluationStatus.ERRORED
ACCEPT = EscalationResolve(decision=EscalationDecision.ACCEPT)
ONE_ATTEMPT = {"max_attempts": 1, "max_evaluation_failures": 1}


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


def always(status: EvaluationStatus, later: EvaluationStatus | None = None) -> "Saying":
    return Saying(status, later or status)


class Saying:
    """Says one thing in coding and another one afterwards."""

    def __init__(self, coding: EvaluationStatus, later: EvaluationStatus) -> None:
        self._coding, self._later = coding, later

    async def __call__(self, phase: str, attempt: int) -> EvaluationStatus:
        return self._coding if phase == "coding" else self._later


async def accepted_in_coding(engine: Engine) -> tuple[str, list[str | None]]:
    """Run coding, accept what failed there, and go on; give how the run rests and the attempts' reasons."""
    run_id = await engine.run("coding", "verification", **ONE_ATTEMPT)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    await engine.cases.escalations.resolve(escalation.id, ACCEPT, "ada")
    status = await engine.until_rest(run_id)
    return status, [each.verdict_reason for each in await engine.attempts(run_id)]


async def test_the_same_finding_is_not_asked_again_and_says_who_accepted_it(
    cases: UseCases, tmp_path: Path
) -> None:
    # The line has moved and the machine was slower: it is still the same test that fails.
    words = {
        "coding": "test_sum fails at a.py:3 after 0.3s",
        "verification": "test_sum fails at a.py:9 after 2s",
    }
    engine = Engine(cases, tmp_path / "t", Agents(), always(FAILED), lambda phase, _: words[phase])
    status, reasons = await accepted_in_coding(engine)
    assert (status, reasons[0]) == ("completed", "Failed: gate")
    assert (
        reasons[1] == "Every gate holds, except for what a person accepted (gate: accepted by ada in coding)"
    )
    async with cases.sessions() as session:
        rows = list(await session.scalars(select(Evaluation).order_by(Evaluation.evaluated_at)))
    # It is still a failure, and whoever looks at it sees who answers for it.
    assert [each.status for each in rows] == ["failed", "failed"]
    assert [each.details.get("accepted") for each in rows] == [
        None,
        {"by": "ada", "phase": "coding", "attempt": 1},
    ]


async def test_another_finding_of_the_same_gate_is_asked_again(cases: UseCases, tmp_path: Path) -> None:
    words = {"coding": "test_sum fails", "verification": "test_sum and test_difference fail"}
    engine = Engine(cases, tmp_path / "t", Agents(), always(FAILED), lambda phase, _: words[phase])
    assert await accepted_in_coding(engine) == ("waiting", ["Failed: gate", "Failed: gate"])


async def test_a_gate_without_a_verdict_is_asked_again(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path / "t", Agents(), always(ERRORED), lambda phase, _: "no sandbox")
    status, reasons = await accepted_in_coding(engine)
    assert (status, reasons[1]) == ("waiting", "gate reached no verdict: no sandbox: errored")


async def test_what_was_rejected_or_tried_again_counts(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path / "t", Agents(), always(FAILED), lambda phase, _: "test_sum fails")
    run_id = await engine.run("coding", "verification", **ONE_ATTEMPT)
    assert await engine.until_rest(run_id) == "waiting"
    retry = EscalationResolve(decision=EscalationDecision.RETRY)
    await cases.escalations.resolve((await engine.escalation(run_id)).id, retry, "ada")
    assert await engine.until_rest(run_id) == "waiting"
    assert [each.verdict for each in await engine.attempts(run_id)] == ["failed", "failed"]


def asked_about(*values: int) -> list[Question]:
    return [
        Question.about(
            f"t.py::test_{each}", QuestionKind.DIFFERENT, f"`test_{each}`?", before="3", after=str(each)
        )
        for each in values
    ]


async def test_a_question_is_asked_at_the_first_attempt_and_its_answer_holds(
    cases: UseCases, tmp_path: Path
) -> None:
    engine = Engine(cases, tmp_path / "t", Agents(), always(FAILED), asks=lambda *_: asked_about(4))
    run_id = await engine.run("coding", "verification", max_attempts=3)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert (escalation.reason_kind, escalation.attempt) == ("question", 1)
    assert "`test_4`?" in escalation.reason
    view = await cases.escalations.get(escalation.id)
    assert [(each.id, each.before, each.after) for each in view.questions] == [("t.py::test_4", "3", "4")]
    await cases.escalations.resolve(escalation.id, ACCEPT, "ada")
    assert await engine.until_rest(run_id) == "completed"
    assert [each.verdict for each in await engine.attempts(run_id)] == ["asks", "passed"]
    assert (await cases.rows.get(run_id)).policy["open_paths"] == []


async def test_an_answer_opens_no_other_change(cases: UseCases, tmp_path: Path) -> None:
    changes = {"coding": asked_about(4), "verification": asked_about(4, 5)}
    engine = Engine(cases, tmp_path / "t", Agents(), always(FAILED), asks=lambda phase, _: changes[phase])
    status, _ = await accepted_in_coding(engine)
    assert status == "waiting"


async def test_a_question_that_is_sent_back_costs_no_attempt(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents()
    engine = Engine(cases, tmp_path / "t", agents, always(FAILED), asks=lambda *_: asked_about(4))
    run_id = await engine.run("coding", max_attempts=1)
    for number in (1, 2):
        assert await engine.until_rest(run_id) == "waiting"
        escalation = await engine.escalation(run_id)
        assert (escalation.reason_kind, escalation.attempt) == ("question", number)
        retry = EscalationResolve(decision=EscalationDecision.RETRY, guidance="Leave the test.")
        await cases.escalations.resolve(escalation.id, retry, "ada")
    assert agents.asked == [("coding", 1), ("coding", 2)]
