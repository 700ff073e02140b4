"""One request tells a reviewer everything, and what reviewers say of verdicts is counted."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text, update

from app.core.errors import ForbiddenError, InvalidInputError, NotFoundError
from app.core.security import Principal, Role
from app.db.models import Evaluation
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.static.ruff_lint import RuffLintEvaluator
from app.schemas.api.escalations import EscalationResolve
from app.schemas.api.evaluators import RECORD_SIZE, VerdictQuery
from app.schemas.api.marks import MarkCreate
from app.services.review.evaluators import EvaluatorService
from app.services.review.marks import MarkService
from app.services.review.reviews import ReviewQueries
from tests.integration.services.support import UseCases, at_once, use_cases
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

WRONG, RIGHT = MarkCreate(was_right=False, note="a false alarm"), MarkCreate(was_right=True)
ADA, BOB = Principal("ada", Role.REVIEWER), Principal("bob", Role.REVIEWER)
BOSS = Principal("boss", Role.ADMIN)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
def marks(cases: UseCases) -> MarkService:
    return MarkService(cases.sessions)


@pytest.fixture
def evaluators(cases: UseCases) -> EvaluatorService:
    registry = EvaluatorRegistry()
    registry.register(RuffLintEvaluator(timeout=PATIENCE))
    return EvaluatorService(cases.sessions, registry.describe())


async def verdict(cases: UseCases, **values: Any) -> UUID:
    """An evaluation in a run of its own."""
    evaluation_id = await cases.rows.attempt(await cases.rows.run())
    status = values.get("status", "failed")
    values = {"passed": status in ("passed", "skipped"), **values}
    async with cases.sessions.begin() as session:
        await session.execute(update(Evaluation).where(Evaluation.id == evaluation_id).values(**values))
    return evaluation_id


async def test_a_reviewer_gets_everything_in_one_request(cases: UseCases, marks: MarkService) -> None:
    run_id = await cases.rows.run(status="waiting", used_input_tokens=7, used_cost_usd=0.5)
    await cases.rows.attempt(run_id, 1, prompt="first")
    evaluation_id = await cases.rows.attempt(
        run_id, 2, evaluator="protected_files", details={"tampered": ["tests/test_[a].py", "x" * 400]}
    )
    await cases.rows.attempt(run_id, 1, phase="discovery")
    decided = {
        "status": "resolved",
        "decision": "retry",
        "decided_by": "ada",
        "decided_at": datetime.now(UTC),
    }
    first = await cases.rows.escalation(
        run_id, 1, created_at=datetime.now(UTC) - timedelta(days=1), **decided
    )
    escalation_id = await cases.rows.escalation(run_id, 2)
    await marks.mark(evaluation_id, WRONG, "ada")

    found = await ReviewQueries(cases.sessions).get(escalation_id)
    assert (found.id, found.version, found.attempt, found.run_id) == (escalation_id, 1, 2, run_id)
    assert (found.sprint.usage.input_tokens, found.sprint.usage.cost_usd) == (7, 0.5)
    assert found.policy.attempts_per_phase == 3
    assert [(each.number, each.phase) for each in found.attempts] == [(1, "coding"), (2, "coding")]
    assert [each.id for each in found.failing] == [evaluation_id]
    assert [each.kind for each in found.failing[0].marks] == ["wrong_fail"]
    assert [each.id for each in found.earlier] == [first]
    assert [each.evaluator for each in found.track_records] == ["protected_files"]
    assert found.track_records[0].marked.wrong_fails.count == 1
    assert found.would_open == ["tests/test_[a].py"], "what cannot be opened is not said to be"
    assert found.can_accept
    assert found.changed_files == [] == found.attempts[1].changed_files
    earlier = await ReviewQueries(cases.sessions).get(first)
    assert earlier.earlier == [], "the later one is not its history"


async def test_an_escalation_before_the_first_attempt(cases: UseCases) -> None:
    run_id = await cases.rows.run(status="waiting")
    escalation_id = await cases.rows.escalation(run_id, 0, reason_kind="budget_exhausted")
    found = await ReviewQueries(cases.sessions).get(escalation_id)
    assert (found.attempt_id, found.attempts, found.failing, found.track_records) == (None, [], [], [])
    assert (found.can_accept, found.changed_files) == (False, None)
    with pytest.raises(NotFoundError):
        await ReviewQueries(cases.sessions).get(uuid4())


async def test_gates_come_first_among_what_failed(cases: UseCases) -> None:
    run_id, escalation_id, adviser = await cases.rows.waiting()
    async with cases.sessions.begin() as session:
        await session.execute(update(Evaluation).where(Evaluation.id == adviser).values(gate=False))
        row = await session.get_one(Evaluation, adviser)
        for position, (name, status) in enumerate([("a", "passed"), ("b", "errored"), ("c", "skipped")], 1):
            session.add(
                Evaluation(
                    candidate_id=row.candidate_id, position=position, evaluator=name, version="1",
                    category="testing", gate=True, status=status, passed=status != "errored", score=0.0,
                    feedback="", criteria=[{"criterion": "k", "passed": False, "evidence": "e"}],
                    suggestions=[], details={},
                )
            )  # fmt: skip
    found = await ReviewQueries(cases.sessions).get(escalation_id)
    assert [each.evaluator for each in found.failing] == ["b", "pytest"]
    assert found.failing[0].criteria[0].evidence == "e"
    assert [each.evaluator for each in found.track_records] == ["pytest", "a", "b", "c"]
    assert (await cases.rows.get(run_id)).status == "waiting"


async def test_a_mark_replaces_the_same_reviewers(cases: UseCases, marks: MarkService) -> None:
    evaluation_id = await verdict(cases)
    first = await marks.mark(evaluation_id, WRONG, "ada")
    again = await marks.mark(evaluation_id, RIGHT, "ada")
    assert (first.id, first.kind, again.kind, again.note) == (again.id, "wrong_fail", "right", "")
    assert again.marked_at > first.marked_at
    await marks.mark(evaluation_id, WRONG, "bob")
    listed = (await marks.of(evaluation_id)).items
    assert [(each.marked_by, each.was_right) for each in listed] == [("bob", False), ("ada", True)]


async def test_many_marks_at_once(cases: UseCases, marks: MarkService) -> None:
    evaluation_id = await verdict(cases, status="passed")
    names = [f"reviewer {number % 4}" for number in range(12)]
    given = await at_once(*(marks.mark(evaluation_id, WRONG, name) for name in names))
    assert all(each.kind == "wrong_pass" for each in given)
    assert await cases.rows.count("verdict_marks") == 4


@pytest.mark.parametrize("status", ["skipped", "errored"])
async def test_what_is_no_verdict_cannot_be_right_or_wrong(
    cases: UseCases, marks: MarkService, status: str
) -> None:
    evaluation_id = await verdict(cases, status=status)
    with pytest.raises(InvalidInputError, match=f"pytest {status}"):
        await marks.mark(evaluation_id, WRONG, "ada")
    run_id, escalation_id, own = await cases.rows.waiting()
    async with cases.sessions.begin() as session:
        await session.execute(
            update(Evaluation).where(Evaluation.id == own).values(status=status, passed=status == "skipped")
        )
    answer = {"decision": "reject", "verdict_marks": [{"evaluation_id": own, "was_right": True}]}
    with pytest.raises(InvalidInputError) as raised:
        await cases.escalations.resolve(escalation_id, EscalationResolve.model_validate(answer), "ada")
    assert raised.value.field == "verdict_marks.0.evaluation_id"
    assert (await cases.rows.get(run_id)).status == "waiting"


async def test_marks_are_taken_back_by_their_author_or_an_admin(cases: UseCases, marks: MarkService) -> None:
    evaluation_id, other = await verdict(cases), await verdict(cases)
    mark = await marks.mark(evaluation_id, WRONG, "ada")
    with pytest.raises(ForbiddenError, match="the mark is ada's"):
        await marks.withdraw(evaluation_id, mark.id, BOB)
    with pytest.raises(NotFoundError):
        await marks.withdraw(other, mark.id, ADA)
    await marks.withdraw(evaluation_id, mark.id, ADA)
    with pytest.raises(NotFoundError):
        await marks.withdraw(evaluation_id, mark.id, ADA)
    mark = await marks.mark(evaluation_id, WRONG, "ada")
    await marks.withdraw(evaluation_id, mark.id, BOSS)
    assert (await marks.of(evaluation_id)).items == []


async def test_marks_on_nothing(marks: MarkService) -> None:
    with pytest.raises(NotFoundError):
        await marks.mark(uuid4(), WRONG, "ada")
    with pytest.raises(NotFoundError):
        await marks.of(uuid4())


async def test_a_track_record(cases: UseCases, marks: MarkService, evaluators: EvaluatorService) -> None:
    made = [
        await verdict(cases, status=status, duration_ms=took)
        for status, took in [
            ("passed", 100),
            ("passed", 200),
            ("failed", 900),
            ("errored", None),
            ("skipped", 1),
        ]
    ]
    await marks.mark(made[0], WRONG, "ada")
    await marks.mark(made[0], RIGHT, "bob")
    await marks.mark(made[1], WRONG, "ada")
    found = await evaluators.get("pytest")
    record = found.record
    assert (found.registered, record.verdicts) == (None, 5)
    shares = [getattr(record, name) for name in ("passed", "failed", "errored", "skipped")]
    assert [(each.count, each.of) for each in shares] == [(2, 5), (1, 5), (1, 5), (1, 5)]
    assert (record.latency.n, record.latency.p50_ms, record.latency.p95_ms) == (3, 200, 900)
    wrong = record.marked.wrong_passes
    assert (wrong.count, wrong.of, wrong.value) == (1, 2, 0.5), "the newest mark counts"
    assert wrong.low is not None
    assert wrong.low == pytest.approx(0.0945, abs=1e-4)
    assert record.marked.wrong_fails.model_dump() == {
        "count": 0, "of": 0, "value": None, "low": None, "high": None,
    }  # fmt: skip
    assert [(each.version, each.verdicts) for each in found.versions] == [("1", 5)]


async def test_an_evaluator_that_has_not_judged_yet(evaluators: EvaluatorService) -> None:
    found = await evaluators.get("ruff_lint")
    assert found.registered is not None
    assert (found.record.verdicts, found.record.passed.value, found.record.latency.p50_ms) == (0, None, None)
    assert (await evaluators.verdicts("ruff_lint", VerdictQuery())).items == []
    for asked in (evaluators.get("nobody"), evaluators.verdicts("nobody", VerdictQuery())):
        with pytest.raises(NotFoundError, match="'nobody'"):
            await asked


_MANY = """
WITH candidate AS (
    INSERT INTO candidates (id, attempt_id, index, agent, provider, output, metrics)
    SELECT gen_random_uuid(), attempts.id, count, 'a', 'p', '', '{}'
    FROM attempts, generate_series(1, :many) AS count RETURNING id
)
INSERT INTO evaluations (id, candidate_id, position, evaluator, version, category, gate, status, passed,
                         score, feedback, criteria, suggestions, metadata)
SELECT gen_random_uuid(), id, 0, 'pytest', '2', 'testing', true, 'passed', true, 1, '', '[]', '{}', '{}'
FROM candidate
"""


async def test_a_record_looks_at_the_newest_verdicts(cases: UseCases, evaluators: EvaluatorService) -> None:
    await verdict(cases, evaluated_at=datetime(2026, 1, 1, tzinfo=UTC))
    async with cases.sessions.begin() as session:
        await session.execute(text(_MANY), {"many": RECORD_SIZE})
    found = await evaluators.get("pytest")
    assert (found.record.verdicts, found.record.failed.count) == (RECORD_SIZE, 0)
    assert [(each.version, each.verdicts) for each in found.versions] == [("2", RECORD_SIZE)]


QUERIES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "all": ({}, {"pass", "bad pass", "fail", "bad fail"}),
    "status": ({"status": ["failed"]}, {"fail", "bad fail"}),
    "marked": ({"mark": "any"}, {"pass", "bad pass", "bad fail"}),
    "not marked": ({"mark": "none"}, {"fail"}),
    "right": ({"mark": "right"}, {"pass"}),
    "wrong passes": ({"mark": "wrong_pass"}, {"bad pass"}),
    "wrong fails": ({"mark": "wrong_fail"}, {"bad fail"}),
    "version": ({"version": ["2"]}, {"bad fail"}),
    "phase": ({"phase": ["verification"]}, set()),
    "since": ({"since": "2026-05-01T00:00:00Z"}, {"pass", "bad pass", "fail"}),
    "until": ({"until": "2026-05-01T00:00:00Z"}, {"bad fail"}),
}


@pytest.mark.parametrize(("query", "names"), QUERIES.values(), ids=QUERIES.keys())
async def test_verdict_history(
    cases: UseCases, marks: MarkService, evaluators: EvaluatorService, query: dict[str, Any], names: set[str]
) -> None:
    made = {
        "pass": await verdict(cases, status="passed"),
        "bad pass": await verdict(cases, status="passed"),
        "fail": await verdict(cases),
        "bad fail": await verdict(cases, version="2", evaluated_at=datetime(2026, 4, 1, tzinfo=UTC)),
    }
    for name, given in (("pass", RIGHT), ("bad pass", WRONG), ("bad fail", WRONG)):
        await marks.mark(made[name], given, "ada")
    seen: list[UUID] = []
    cursor = None
    while True:
        page = await evaluators.verdicts(
            "pytest", VerdictQuery.model_validate({**query, "limit": 1, "cursor": cursor})
        )
        seen += [each.evaluation.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(made[name] for name in names)
    assert len(seen) == len(set(seen))
