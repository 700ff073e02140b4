"""Answers as runs: how they end, and that no worker's death loses anything of them."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.db.models import Attempt, Run
from app.schemas.api.escalations import EscalationResolve
from app.schemas.response_evaluation import Verdict
from app.schemas.runs import EscalationDecision, RunPolicy
from app.services.review.reviews import ReviewQueries
from tests.integration.services.answer_support import (
    GOOD,
    LACKING,
    UNSAFE,
    VAGUE,
    AnswerEngine,
    script,
)
from tests.integration.services.loop_support import KilledError
from tests.integration.services.support import UseCases, git, make_repository, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@pytest.mark.parametrize(
    ("judgements", "status", "text", "gaps", "attempts"),
    [
        pytest.param([GOOD], "accepted", "draft 1", [], 1, id="good at once"),
        pytest.param([VAGUE, GOOD], "accepted", "draft 2", [], 2, id="good after a retry"),
        pytest.param([VAGUE, VAGUE, GOOD], "accepted", "draft 3", [], 3, id="good at the last"),
        pytest.param([VAGUE], "partial", "draft 3", ["the price is missing"], 3, id="never complete"),
        pytest.param([VAGUE, UNSAFE], "partial", "draft 1", ["the price is missing"], 3, id="the safe one"),
        pytest.param([UNSAFE], "partial", None, ["a secret is shown"], 3, id="never safe"),
    ],
)
async def test_how_answers_end(
    cases: UseCases,
    judgements: list[dict[str, Any]],
    status: str,
    text: str | None,
    gaps: list[str],
    attempts: int,
) -> None:
    engine = AnswerEngine(cases)
    answer = await engine.until_over(await engine.start(script(*judgements)))
    assert answer.status == "completed"
    assert answer.result is not None
    assert (answer.result.status, answer.result.answer, answer.result.gaps) == (status, text, gaps)
    assert answer.result.withheld is (text is None)
    assert [each.number for each in answer.attempts] == list(range(1, attempts + 1))
    assert all(each.evaluation and each.completed_at for each in answer.attempts)
    assert answer.scripted


async def test_each_attempt_is_told_what_was_wrong_before(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    written = [{"say": "3"}, {"say": "3 francs", "expects": ["the price is missing"]}]
    answer = await engine.until_over(await engine.start(script(VAGUE, GOOD, written=written)))
    assert [each.answer for each in answer.attempts] == ["3", "3 francs"]
    first = answer.attempts[0].evaluation
    assert first is not None
    assert first.overall_verdict is Verdict.INSUFFICIENT
    assert first.recommendation == "retry_with_feedback"


async def test_more_is_looked_up_where_an_attempt_lacks_data(cases: UseCases, tmp_path: Path) -> None:
    project = make_repository(tmp_path / "project")
    (project / "costs.md").write_text("# Costs\n\nWhat does it cost? Three francs.\n")
    (project / "limits.md").write_text("# Limits\n\nThe limit for uploads is 90 MB.\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "what there is to know")
    engine = AnswerEngine(cases)
    source = {"kind": "local", "path": str(project)}
    run_id = await engine.start(script(LACKING, GOOD), entries=[], source=source)
    answer = await engine.until_over(run_id)
    assert answer.result is not None
    assert answer.result.status == "accepted"
    first, second = answer.attempts
    assert "Three francs" in "\n".join(first.found)
    assert "90 MB" in "\n".join(second.found)
    assert second.entries == len(second.found) > 0
    assert second.found[: len(first.found)] == first.found


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        pytest.param({"written": []}, "nothing for the synthesizer to say", id="nobody writes"),
        pytest.param(
            {"written": [{"say": "x", "notes": {"gap": 1}}]}, "notes of the synthesizer", id="notes"
        ),
    ],
)
async def test_who_cannot_write_ends_the_answer(cases: UseCases, agent: dict[str, Any], reason: str) -> None:
    engine = AnswerEngine(cases)
    spec = script(GOOD, written=agent["written"] or None)
    if not agent["written"]:
        del spec["script"]["phases"]["synthesizer"]
    answer = await engine.until_over(await engine.start(spec))
    assert answer.status == "failed"
    assert reason in answer.status_reason
    assert answer.result is not None
    assert (answer.result.status, answer.result.answer) == ("unavailable", None)
    assert reason in answer.attempts[0].trouble


async def test_an_answer_that_cannot_be_judged_is_not_delivered(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    spec = script(GOOD)
    del spec["script"]["phases"]["evaluator"]
    answer = await engine.until_over(await engine.start(spec))
    assert answer.status == "failed"
    assert answer.result is not None
    assert (answer.result.status, answer.result.answer) == ("unavailable", None)
    assert answer.attempts[0].answer == "draft 1"


async def test_every_step_is_told(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(VAGUE, GOOD))
    await engine.until_over(run_id)
    attempt = ["attempt.started", "attempt.produced", "evaluation.started", "evaluation.completed"]
    assert await cases.rows.events(run_id) == [
        *("run.created", "workflow.started", "phase.started"),
        *attempt,
        *attempt,
        *("phase.completed", "workflow.completed"),
    ]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("transaction", range(1, 9))
async def test_no_death_of_a_worker_loses_or_doubles_anything(
    cases: UseCases, transaction: int, when: str
) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(VAGUE, GOOD))
    engine.recorder.dies_at = (transaction, when)
    with pytest.raises(KilledError):
        await engine.until_over(run_id)
    answer = await engine.until_over(run_id)
    assert answer.status == "completed"
    assert answer.result is not None
    assert (answer.result.status, answer.result.answer) == ("accepted", "draft 2")
    assert [each.answer for each in answer.attempts] == ["draft 1", "draft 2"]
    told = await cases.rows.events(run_id)
    assert told.count("evaluation.completed") == 2
    assert told.count("workflow.completed") == 1


async def test_rules_of_domains_and_of_the_request_are_merged(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(GOOD), domains=["shop"], rules=["Be brief."])
    answer = await cases.answers.get(run_id)
    assert answer.domains == ["shop"]
    assert answer.rules[-2:] == ["Prices name their currency.", "Be brief."]
    assert len(answer.rules) > 2


async def test_an_unknown_domain_is_refused_before_anything_is_kept(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    with pytest.raises(InvalidInputError, match="known domains: shop") as refused:
        await engine.start(script(GOOD), domains=["law"])
    assert refused.value.field == "domains"
    assert await cases.rows.count("runs") == 0


async def test_a_cancelled_answer_stays_cancelled(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(GOOD))
    answer = await cases.cancels.cancel(run_id, "enough", "ada", show=cases.answers.show)
    assert (answer.status, answer.status_reason, answer.result) == ("cancelled", "enough", None)
    await engine.advance(run_id)
    assert (await cases.answers.get(run_id)).attempts == []
    with pytest.raises(ConflictError, match="the answer is cancelled since"):
        await cases.cancels.cancel(run_id, "", "ada", show=cases.answers.show)


async def test_a_sprint_is_no_answer(cases: UseCases) -> None:
    sprint = await cases.rows.run()
    with pytest.raises(NotFoundError, match="is a sprint, not an answer"):
        await cases.answers.get(sprint)


async def test_a_budget_that_is_used_up_asks_a_human(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(VAGUE), budget={"tokens": 1})
    async with cases.sessions.begin() as session:
        (await session.get_one(Run, run_id)).used_input_tokens = 5
    answer = await engine.until_over(run_id)
    assert answer.status == "waiting"
    assert answer.escalations[0].reason_kind == "budget_exhausted"
    asked = await ReviewQueries(cases.sessions).get(answer.escalations[0].id)
    assert (asked.kind, asked.attempt, asked.can_accept, asked.would_give) == ("answer", 0, False, None)


async def asked_after_one_attempt(cases: UseCases, engine: AnswerEngine, agent: dict[str, Any]) -> UUID:
    """An answer that is judged once when its budget is found to be used up; gives the question to a human."""
    run_id = await engine.start(agent, budget={"tokens": 4})
    engine.recorder.dies_at = (4, "after")
    with pytest.raises(KilledError):
        await engine.advance(run_id)
    async with cases.sessions.begin() as session:
        (await session.get_one(Run, run_id)).used_input_tokens = 5
    answer = await engine.until_over(run_id)
    assert [(each.kind, each.attempt) for each in answer.escalations] == [("answer", 1)]
    return answer.escalations[0].id


@pytest.mark.parametrize(
    ("judgement", "answer", "gaps"),
    [
        pytest.param(VAGUE, "draft 1", ["the price is missing"], id="a partial one"),
        pytest.param(UNSAFE, None, ["a secret is shown"], id="one that is not safe"),
    ],
)
async def test_accepting_gives_what_the_reviewer_was_shown(
    cases: UseCases, judgement: dict[str, Any], answer: str | None, gaps: list[str]
) -> None:
    engine = AnswerEngine(cases)
    escalation = await asked_after_one_attempt(cases, engine, script(judgement))
    shown = await ReviewQueries(cases.sessions).get(escalation)
    assert shown.would_give is not None
    assert (shown.would_give.answer, shown.would_give.gaps) == (answer, gaps)
    await cases.escalations.resolve(escalation, EscalationResolve(decision=EscalationDecision.ACCEPT), "ada")
    over = await engine.until_over(shown.run_id)
    assert (over.status, over.result) == ("completed", shown.would_give)
    assert over.status_reason == "ada accepted it as it is"
    decided = await ReviewQueries(cases.sessions).get(escalation)
    assert decided.would_give is None


async def test_accepting_what_was_never_judged_gives_the_text(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(GOOD))
    engine.recorder.dies_at = (2, "after")
    with pytest.raises(KilledError):
        await engine.advance(run_id)
    async with cases.sessions.begin() as session:
        written = (await session.scalars(select(Attempt).where(Attempt.run_id == run_id))).one()
        assert written.status == "produced"
        written.evaluation_failures = RunPolicy().max_evaluation_failures
    (asked,) = (await engine.until_over(run_id)).escalations
    assert asked.reason_kind == "evaluator_unavailable"
    shown = await ReviewQueries(cases.sessions).get(asked.id)
    assert shown.can_accept
    assert shown.would_give is not None
    assert (shown.would_give.status, shown.would_give.answer) == ("partial", "draft 1")
    assert shown.would_give.reason == "the answer was not judged"
    await cases.escalations.resolve(asked.id, EscalationResolve(decision=EscalationDecision.ACCEPT), "ada")
    over = await engine.until_over(run_id)
    assert (over.status, over.result) == ("completed", shown.would_give)


async def test_cancelling_what_was_never_judged_gives_nothing(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(GOOD))
    engine.recorder.dies_at = (2, "after")
    with pytest.raises(KilledError):
        await engine.advance(run_id)
    await cases.cancels.cancel(run_id, "", "ada")
    assert (await cases.answers.get(run_id)).result is None


async def test_what_a_reviewer_says_reaches_the_writer(cases: UseCases) -> None:
    written = [{"say": "3"}, {"say": "3 francs", "expects": ["name the currency"]}]
    engine = AnswerEngine(cases)
    escalation = await asked_after_one_attempt(cases, engine, script(VAGUE, GOOD, written=written))
    said = EscalationResolve(decision=EscalationDecision.RETRY, guidance="Please name the currency.")
    run_id = (await cases.escalations.resolve(escalation, said, "ada")).run_id
    answer = await engine.until_over(run_id)
    assert [each.answer for each in answer.attempts] == ["3", "3 francs"]
    kept = await cases.queries.attempt(run_id, "answer", 2)
    added = "".join(each.text for each in kept.prompt_changes or () if each.kind == "added")
    assert added.endswith("A human said:\nPlease name the currency.")


async def test_common_views_show_answers(cases: UseCases) -> None:
    engine = AnswerEngine(cases)
    run_id = await engine.start(script(VAGUE, GOOD))
    await engine.until_over(run_id)
    common = await cases.queries.get(run_id)
    assert (common.kind, common.status, common.phases[0].phase) == ("answer", "completed", "answer")
    assert [each.evaluations[0].passed for each in common.attempts] == [False, True]
    assert {each.criterion for each in common.attempts[0].evaluations[0].criteria} == {
        *("accuracy", "relevance", "safety", "completeness")
    }
