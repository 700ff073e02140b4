"""Known failures belong to a repository: reviewers add them, and runs of it read them."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import ValidationError
from sqlalchemy import select

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.db.models import EventRow, Run
from app.schemas.api.escalations import EscalationResolve
from app.schemas.api.known_failures import MAX_SHOWN, KnownFailuresNamed
from app.schemas.questions import QUESTIONS, Question, QuestionKind
from app.services.record.known_failures import add_known_failures, load_known_failures
from app.services.review.known_failures import KnownFailureService
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

PLACE = {"kind": "local", "location": "/srv/shares"}
LONG = f"tests/test_a.py::test[{'x' * 3000}]"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


def answer(**fields: Any) -> EscalationResolve:
    return EscalationResolve.model_validate({"decision": "accept", "known_failures": True, **fields})


async def asking(cases: UseCases, *tests: str, source: dict[str, str] = PLACE) -> tuple[UUID, UUID]:
    """Make a run that waits for an answer about tests; return its id and its escalation's."""
    asked = Question.about("tests", QuestionKind.RED_AT_BASE, "may they stay?").about_tests(tests)
    run_id = await cases.rows.run(status="waiting", source=source)
    await cases.rows.attempt(run_id, details={QUESTIONS: [asked.model_dump(mode="json")]})
    return run_id, await cases.rows.escalation(run_id, reason_kind="question")


async def known(cases: UseCases, run_id: UUID) -> Sequence[str]:
    async with cases.sessions() as session:
        return await load_known_failures(session, await session.get_one(Run, run_id))


async def test_every_run_of_the_repository_knows_them(cases: UseCases) -> None:
    run_id, escalation_id = await asking(cases, "t.py::test_b", "t.py::test_a[1]", LONG)
    later = await cases.rows.run(source=PLACE)
    elsewhere = await cases.rows.run(source={"kind": "local", "location": "/srv/others"})
    assert await known(cases, later) == []
    await cases.escalations.resolve(escalation_id, answer(), "ada")
    assert set(await known(cases, later)) == {
        "t.py::test_a[[]1]",
        "t.py::test_b",
        LONG.replace("[", "[[]", 1),
    }
    assert await known(cases, elsewhere) == []
    async with cases.sessions() as session:
        statement = select(EventRow.data).where(EventRow.run_id == run_id)
        told = [each for each in await session.scalars(statement) if "known_failures" in each]
    assert [each["known_failures"] for each in told] == [3]


async def test_a_second_decision_keeps_who_came_first(cases: UseCases) -> None:
    for name, tests in (("ada", ("a", "b")), ("ben", ("b", "c"))):
        _, escalation_id = await asking(cases, *tests)
        await cases.escalations.resolve(escalation_id, answer(decision="retry"), name)
    found = await KnownFailureService(cases.sessions).of_project(PLACE["location"])
    assert [(each.test, each.added_by) for each in found.items] == [("a", "ada"), ("b", "ada"), ("c", "ben")]
    assert found.total == 3


@pytest.mark.parametrize(
    ("tests", "source", "why"),
    [
        ((), PLACE, "no question names tests"),
        (("a",), {"kind": "archive", "location": "work.zip"}, "no repository"),
        (("a",), {"kind": "empty", "location": "a new project"}, "no repository"),
    ],
)
async def test_what_cannot_be_known_is_refused_and_nothing_is_decided(
    cases: UseCases, tests: Sequence[str], source: dict[str, str], why: str
) -> None:
    run_id, escalation_id = await asking(cases, *tests, source=source)
    with pytest.raises(InvalidInputError, match=why) as raised:
        await cases.escalations.resolve(escalation_id, answer(), "ada")
    assert raised.value.field == "known_failures"
    shown = await cases.escalations.get(escalation_id)
    assert (shown.status, [each.tests for each in shown.questions]) == ("open", [()])
    assert await cases.rows.events(run_id) == []


def test_a_rejection_adds_nothing() -> None:
    with pytest.raises(ValidationError, match="known_failures is not for the decision 'reject'"):
        answer(decision="reject")


async def test_too_many_are_refused_and_none_is_added(cases: UseCases) -> None:
    run_id, escalation_id = await asking(cases, "one", "more")
    async with cases.sessions.begin() as session:
        run = await session.get_one(Run, run_id)
        for start in range(0, MAX_SHOWN - 1, 1000):
            many = [f"test {number}" for number in range(start, min(start + 1000, MAX_SHOWN - 1))]
            await add_known_failures(session, run, PLACE["location"], many, "ada")
    with pytest.raises(ConflictError, match="more than 5000 known failures"):
        await cases.escalations.resolve(escalation_id, answer(), "ada")
    assert (await cases.escalations.get(escalation_id)).status == "open"
    assert (await KnownFailureService(cases.sessions).of_project(None)).total == MAX_SHOWN - 1


async def test_removing_some_and_all(cases: UseCases) -> None:
    run_id, escalation_id = await asking(cases, "a", "b", "c")
    await cases.escalations.resolve(escalation_id, answer(), "ada")
    service = KnownFailureService(cases.sessions)
    place = PLACE["location"]
    assert (await service.remove(KnownFailuresNamed(project=place, test=["b", "unknown"]))).removed == 1
    assert await known(cases, run_id) == ["a", "c"]
    assert (await service.remove(KnownFailuresNamed(project=place))).removed == 2
    for named in ({"project": place}, {"project": "/srv/others", "test": ["a"]}):
        with pytest.raises(NotFoundError):
            await service.remove(KnownFailuresNamed.model_validate(named))


async def test_a_question_about_very_many_tests_names_none(cases: UseCases) -> None:
    _, escalation_id = await asking(cases, *(f"test {number}" for number in range(501)))
    assert (await cases.escalations.get(escalation_id)).questions[0].tests == ()
    with pytest.raises(InvalidInputError, match="no question names tests"):
        await cases.escalations.resolve(escalation_id, answer(), str(uuid4()))
