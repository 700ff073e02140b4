"""Refused results go back to their agents once, and say what to do when no agent may go on."""

from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from app.db.models import ForgeReport, ForgeReview, Run, Snapshot
from app.forges.operator_file import parse_forges
from app.forges.repositories import Member, Members
from app.services.forges.returns import ReturnService, find_refusal
from app.services.forges.rounds import RoundService
from tests.integration.services.support import at_once
from tests.integration.services.test_merge_queue import QUARTER, RENAMED, REWRITTEN, Scene, scene
from tests.integration.services.test_reviews import FILE, REPO

pytestmark = pytest.mark.anyio


def member_of(here: Scene, *, followed: bool = True) -> Member:
    text = FILE.format(web=here.url.removesuffix(f"/{REPO}"))
    if not followed:
        text = "\n".join(line for line in text.splitlines() if not line.startswith("review"))
    found = Members(parse_forges(text, "forges.toml")).named("github", REPO)
    assert found is not None
    return found


def returns_of(here: Scene) -> ReturnService:
    rounds = RoundService(here.parts.sessions, here.parts.sprints, here.queue)
    return ReturnService(here.parts.sessions, rounds)


async def rounds_of(here: Scene, root: UUID) -> list[ForgeReport]:
    async with here.parts.sessions() as session:
        found = select(ForgeReport).where(ForgeReport.root_run_id == root)
        return list(await session.scalars(found.order_by(ForgeReport.created_at)))


async def review_of(here: Scene, root: UUID) -> ForgeReview | None:
    async with here.parts.sessions() as session:
        return await session.get(ForgeReview, root)


async def test_a_refused_result_goes_back_once_and_with_what_comes_before(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming, quarter = await here.finished(RENAMED), await here.finished(QUARTER)
        await here.queue.admit(renaming, renaming)
        check = await here.queue.admit(quarter, quarter)
        member, returns = member_of(here), returns_of(here)
        told = await at_once(*(returns.give_back(quarter, quarter, member, check) for _ in range(2)))
        (begun,) = await rounds_of(here, quarter)
        assert {each.partition(",")[0] for each in told} <= {
            "It goes back to its agent: round 1 of 2",
            "round 1 of 2: the result cannot be merged as it is",
        }
        assert (begun.after, begun.branch, begun.parents) == ([renaming], None, [])
        review = await review_of(here, quarter)
        assert review is not None
        assert (review.state, review.rounds, review.round_run_id) == ("working", 1, begun.run_id)
        await check_files(here, begun.run_id)
        refusal = await find_refusal(here.parts.sessions, quarter)
        assert refusal is not None
        assert check.problem in refusal.text


async def check_files(here: Scene, round_id: UUID) -> None:
    """The round starts from the target with the earlier result, and begins with its own on top."""
    run = await here.parts.rows.get(round_id)
    repository = await here.parts.trees.repository(round_id, run.base_commit, run.head_commit)
    base = await repository.read_file(run.base_commit, "shares.py", 1000)
    assert base is not None
    assert b"def halve" in base
    changed = await repository.changed_files(run.base_commit, run.head_commit)
    assert [each.path for each in changed] == ["quarters.py", "test_quarters.py"]
    async with here.parts.sessions() as session:
        kept = {each.kind for each in await session.scalars(select(Snapshot).filter_by(run_id=round_id))}
    assert kept == {"base", "attempt"}


async def test_a_conflict_is_shown_in_the_files(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming, rewriting = await here.finished(RENAMED), await here.finished(REWRITTEN)
        await here.queue.admit(renaming, renaming)
        check = await here.queue.admit(rewriting, rewriting)
        await returns_of(here).give_back(rewriting, rewriting, member_of(here), check)
        (begun,) = await rounds_of(here, rewriting)
        run = await here.parts.rows.get(begun.run_id)
        assert any("conflict markers" in each and "- shares.py" in each for each in run.guidance)
        repository = await here.parts.trees.repository(begun.run_id, run.head_commit)
        marked = await repository.read_file(run.head_commit, "shares.py", 1000)
        assert marked is not None
        assert b"<<<<<<<" in marked


async def test_when_no_agent_may_go_on_a_person_is_named(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming, quarter = await here.finished(RENAMED), await here.finished(QUARTER)
        await here.queue.admit(renaming, renaming)
        check = await here.queue.admit(quarter, quarter)
        returns, member = returns_of(here), member_of(here)
        unfollowed = await returns.give_back(quarter, quarter, member_of(here, followed=False), check)
        assert unfollowed.startswith("A person has to go on")
        assert await review_of(here, quarter) is None
        refused = quarter
        for number in (1, 2):
            told = await returns.give_back(refused, quarter, member, check)
            assert f"round {number} of 2" in told
            refused = (await rounds_of(here, quarter))[-1].run_id
            async with here.parts.sessions.begin() as session:
                (await session.get_one(Run, refused)).status = "completed"
        assert await returns.give_back(refused, quarter, member, check) == (
            "All 2 rounds are used; a person has to go on."
        )
        review = await review_of(here, quarter)
        assert review is not None
        assert (review.state, review.rounds) == ("spent", 2)
        assert len(await rounds_of(here, quarter)) == 2


async def test_a_result_waits_for_those_in_its_base(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming = await here.finished(RENAMED)
        await here.queue.admit(renaming, renaming)
        assert await here.queue.waits_for([renaming]) == [f"run {str(renaming)[:8]}"]
        await here.report(renaming, pull_number=100, wanted=1, reported=1)
        assert await here.queue.waits_for([renaming]) == ["#100"]
        await here.report(renaming, outcome="closed")
        assert await here.queue.waits_for([renaming]) == []
