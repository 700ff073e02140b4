"""What other people push to a run's pull request is judged by itself, once for each head."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from app.db.models import ForgeReview, Run
from app.forges.deliveries import ReviewStirred
from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.services.forges.review_comments import MAX_JUDGED
from app.services.forges.signs import stir
from app.services.read.forges import load_forge_views
from tests.forge_double import Fault
from tests.integration.services.test_reviews import REPO, Scene, scene
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

TEST = "from a import x\n\n\ndef test_it() -> None:\n    assert x == 1\n"
PROJECT = {"test_a.py": TEST}
BROKEN = {"a.py": "x = 3\n"}


def gates() -> EvaluatorRegistry:
    registry = EvaluatorRegistry()
    registry.register(PytestEvaluator(timeout=PATIENCE))
    return registry


def told(here: Scene, commit: str) -> list[str]:
    """The states of the statuses of a commit."""
    return [each["state"] for each in here.forge.statuses if each["sha"] == commit]


def judged(review: ForgeReview) -> tuple[str | None, str | None]:
    return review.judged_commit, review.judged_status


async def test_each_head_is_judged_once_and_the_verdict_is_reported(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path, PROJECT, gates()) as here:
        assert judged(await here.look()) == (None, None), "the service pushed it itself"
        assert here.forge.comments_of(100) == []
        broken = here.push("break", BROKEN)
        found = await here.look()
        assert judged(found) == (broken, "failed")
        assert "test_a.py::test_it" in found.judged_reason
        assert (found.state, await here.rounds()) == ("watching", []), "a person has to ask for a round"
        await here.look()
        assert told(here, broken) == ["failure"]
        mended = here.push("mend", {"a.py": "x = 1\n"})
        assert judged(await here.look()) == (mended, "passed")
        assert told(here, mended) == ["success"]
        (comment,) = here.forge.comments_of(100)
        assert f"Commit {mended[:12]}, which other people pushed: the gates passed it" in comment
        async with here.parts.sessions() as session:
            review = (await load_forge_views(session, [here.root]))[here.root].review
        assert review is not None
        assert review.push is not None
        assert (review.push.commit, review.push.status) == (mended, "passed")


async def test_it_is_judged_as_it_would_be_merged(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, gates()) as here:
        more = TEST.replace("a import x", "c import z").replace("x == 1", "z == 1")
        here.push("on main", {"c.py": "z = 1\n", "test_c.py": more}, "main")
        both = here.push("theirs", {"a.py": "x = 1\n\nX = x\n"})
        assert judged(await here.look()) == (both, "passed")
        here.push("on main again", {"a.py": "x = 1\nY = 2\n"}, "main")
        other = here.push("conflict", {"a.py": "x = 1\nZ = 4\n"})
        found = await here.look()
        assert judged(found) == (other, "conflicts")
        assert found.judged_reason == "It conflicts with main: a.py"
        assert told(here, other) == ["failure"]


async def test_tests_that_people_change_are_theirs(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, gates()) as here:
        changed = here.push("both", {"a.py": "x = 3\n", "test_a.py": TEST.replace("== 1", "== 3")})
        assert judged(await here.look()) == (changed, "passed")


async def test_it_begins_a_round_if_the_operator_wants_that(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, gates(), pushes="round") as here:
        broken = here.push("break", BROKEN)
        found = await here.look()
        assert (found.state, found.asked) == ("working", [f"push:{broken}"])
        (first,) = await here.rounds()
        async with here.parts.sessions() as session:
            (guidance,) = (await session.get_one(Run, first)).guidance
        assert f"The gates failed commit {broken[:12]}, which people pushed" in guidance
        assert "test_a.py::test_it" in guidance


async def test_a_push_is_judged_while_a_round_works(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, gates()) as here:
        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        assert (await here.look()).state == "working"
        broken = here.push("meanwhile", BROKEN)
        assert await stirred(here, number=100) == 0, "what people say is read when the round has ended"
        assert await stirred(here, number=100, moved=True) == 1
        found = await here.look()
        assert (found.state, judged(found)) == ("working", (broken, "failed"))
        (comment,) = here.forge.comments_of(100)
        assert "round 1 of 2" in comment
        assert f"Commit {broken[:12]}, which other people pushed" in comment
        (first,) = await here.rounds()
        await here.end_round(first, "completed", pushed=here.push("answer"))
        assert judged(await here.look()) == (broken, "failed"), "the round's own push is not judged again"


async def test_a_forge_that_is_away_delays_the_verdict(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, gates()) as here:
        head = here.push("theirs")
        here.forge.faults.append(Fault("POST", f"/statuses/{head}", 500))
        assert judged(await here.look()) == (None, None)
        assert judged(await here.look()) == (head, "passed")
        assert told(here, head) == ["success"]


async def test_a_head_without_a_verdict_is_judged_again_and_not_for_ever(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path, PROJECT, silent()) as here:
        head = here.push("theirs")
        found = await here.look()
        assert (judged(found), found.judged_tries) == ((head, "errored"), 1)
        assert found.look_at is not None
        assert found.judged_at is not None
        assert (found.look_at - found.judged_at).total_seconds() == pytest.approx(5)
        assert (await here.look()).judged_tries == 1, "it is too early"
        (comment,) = here.forge.comments_of(100)
        assert f"no verdict (try 1 of {MAX_JUDGED}); they try again later" in comment
        for tries in range(2, MAX_JUDGED + 1):
            assert (await look_later(here)).judged_tries == tries
        last = await look_later(here)
        assert last.judged_tries == MAX_JUDGED
        assert last.look_at is not None
        assert (last.look_at - datetime.now(UTC)).total_seconds() > 1800, "nothing more happens by itself"
        (comment,) = here.forge.comments_of(100)
        assert f"no verdict (try {MAX_JUDGED} of {MAX_JUDGED}); a person has to decide" in comment
        assert told(here, head) == ["error"] * MAX_JUDGED


async def test_a_verdict_or_a_new_head_ends_the_tries(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, silent()) as here:
        here.push("theirs")
        await here.look()
        await look_later(here)
        other = here.push("other")
        found = await here.look()
        assert (judged(found), found.judged_tries) == ((other, "errored"), 1)
        here.chore = here.make_chore(here.members, gates())
        found = await look_later(here)
        assert (judged(found), found.judged_tries) == ((other, "passed"), 2)
        assert (await look_later(here)).judged_tries == 2
        (comment,) = here.forge.comments_of(100)
        assert "the gates passed it" in comment


async def test_a_round_that_is_pushed_ends_the_tries(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path, PROJECT, silent()) as here:
        here.push("theirs")
        await here.look()
        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        assert (await look_later(here)).state == "working"
        (first,) = await here.rounds()
        await here.end_round(first, "completed", pushed=here.push("answer"))
        found = await look_later(here)
        assert found.judged_tries == 2
        assert found.look_at is not None
        assert (found.look_at - datetime.now(UTC)).total_seconds() > 1800, "it sleeps"


def silent() -> EvaluatorRegistry:
    """Return gates that reach no verdict, as their tool is missing."""
    registry = EvaluatorRegistry()
    registry.register(RuffLintEvaluator(timeout=0.0001))
    return registry


async def look_later(here: Scene) -> ForgeReview:
    """Let the pause before the next try pass, and look."""
    async with here.parts.sessions.begin() as session:
        await session.execute(update(ForgeReview).values(judged_at=datetime.now(UTC) - timedelta(hours=1)))
    return await here.look()


async def stirred(here: Scene, **sign: Any) -> int:
    """Tell of an event; gives how many reviews it woke."""
    member = here.members.named("github", REPO)
    assert member is not None
    assert member.repository.review is not None
    return await stir(here.parts.sessions, member, member.repository.review, ReviewStirred(REPO, **sign))
