"""Merged pull requests: compared with what was delivered in real git, and followed until they are settled."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from sqlalchemy import select, update

from app.db.models import ForgeMerge, ForgeReport, Run, Snapshot
from app.forges.deliveries import ReviewStirred, read_delivery
from app.forges.github import GitHub
from app.forges.operator_file import credentials_of, parse_forges
from app.forges.port import NewPullRequest, PullRequest
from app.forges.repositories import Members
from app.schemas.api.sprints import SprintCreate
from app.services.forges.merges import MergeChore, stir_merges
from app.services.forges.outcomes import note_outcome
from app.services.read.forges import load_forge_views
from app.workspaces.sources.inspection import SourcePolicy
from tests.forge_double import Fault, GitHubDouble, github_double
from tests.git_http import TOKEN, fixed_token, run_git, serving_git
from tests.integration.services.support import UseCases, make_repository, use_cases
from tests.integration.services.test_reviews import FILE, REPO

pytestmark = pytest.mark.anyio

BRANCH = "phaserunner/first"
DELIVERED = "one\ntwo\nthree\nfour\n"
GONE = PullRequest(100, "u", "closed", draft=False, merged=True, body="")


@dataclass
class Scene:
    """A delivered result, its pull request, and what follows its merge."""

    parts: UseCases
    forge: GitHubDouble
    members: Members
    chore: MergeChore
    run: UUID

    async def merge(self, method: str) -> None:
        """Merge the pull request, and note that it was."""
        self.forge.merge(100, method)
        async with self.parts.sessions.begin() as session:
            await note_outcome(session, self.run, GONE)

    async def look(self) -> ForgeMerge:
        """Make the merge due, and let it be looked at."""
        await self.change(look_at=datetime.now(UTC) - timedelta(seconds=1))
        await self.chore()
        return await self.row()

    async def row(self) -> ForgeMerge:
        """Read what is known of the merge."""
        async with self.parts.sessions() as session:
            return await session.get_one(ForgeMerge, self.run)

    async def change(self, **values: object) -> None:
        """Change what is known of the merge."""
        async with self.parts.sessions.begin() as session:
            await session.execute(update(ForgeMerge).values(values))

    def push(self, branch: str, name: str, text: str, message: str) -> str:
        """Push a commit as a person would; gives its id."""
        clone = self.parts.data_dir / f"clone-{name}-{len(message)}"
        run_git(self.parts.data_dir, "clone", "-q", "-b", branch, str(self.forge.bare), str(clone))
        (clone / name).write_text(text)
        run_git(clone, "add", "-A")
        run_git(clone, "commit", "-q", "-m", message)
        run_git(clone, "push", "-q")
        return str(self.forge.head_of(branch))


@asynccontextmanager
async def scene(database_url: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    project = make_repository(tmp_path / "project")
    (tmp_path / "data").mkdir()
    with serving_git(tmp_path / "served") as server:
        bare = server.create(REPO, project)
        run_git(bare, "branch", "-M", run_git(bare, "rev-parse", "--abbrev-ref", "HEAD"), "main")
        members = Members(parse_forges(FILE.format(web=server.url), "forges.toml"))
        known = credentials_of(members.file, {"TOKEN": TOKEN})
        sources = SourcePolicy(allow_private_urls=True, credentials=known)
        with github_double(REPO, server.url, bare) as double:
            async with use_cases(database_url, tmp_path / "data", sources) as parts:
                forge = GitHub(partial(httpx.AsyncClient, timeout=30.0), double.url, fixed_token(TOKEN))
                chore = MergeChore(parts.sessions, members, {"github": forge}, parts.trees, sources)
                run = await delivered(parts, bare, f"{server.url}/{REPO}")
                new = NewPullRequest(title="x", body="", head=BRANCH, base="main", draft=False)
                await forge.open_pull(REPO, new)
                yield Scene(parts, double, members, chore, run)


async def delivered(parts: UseCases, bare: Path, url: str) -> UUID:
    """A run whose result adds a file, pushed to its branch."""
    source = {"kind": "git", "url": url, "ref": "main", "credential": "acme"}
    request = {"goal": "add it", "source": source, "phases": ["coding"]}
    sprint = await parts.sprints.start(SprintCreate.model_validate(request), "ada")
    run = await parts.rows.get(sprint.id)
    async with parts.trees.open(run.id, run.base_commit, 1) as (tree,):
        (tree / "new.txt").write_text(DELIVERED)
        made = await parts.trees.commit(run.id, tree, run.base_commit, run.base_commit, "add")
    repository = await parts.trees.repository(run.id, made.commit)
    run_git(repository.path, "push", "-q", str(bare), f"{made.commit}:refs/heads/{BRANCH}")
    async with parts.sessions.begin() as session:
        session.add(Snapshot(run_id=run.id, commit=made.commit, kind="attempt", bundle=made.bundle))
        values = {"status": "completed", "head_commit": made.commit, "phase": None}
        await session.execute(update(Run).where(Run.id == run.id).values(values))
        place = {"forge": "github", "repository": REPO, "branch": BRANCH, "pull_number": 100}
        session.add(ForgeReport(run_id=run.id, pushed=[made.commit], **place))
    return run.id


@pytest.mark.parametrize("method", ["merge", "squash", "rebase", "forward"])
async def test_edits_are_measured_however_it_was_merged(
    database_url: str, tmp_path: Path, method: str
) -> None:
    async with scene(database_url, tmp_path) as here:
        if method != "forward":
            here.push("main", "other.txt", "else\n", "Meanwhile")
        edited = DELIVERED.replace("two", "2")
        here.push(BRANCH, "new.txt", edited, "By a person")
        await here.merge(method)
        found = await here.look()
        assert (found.edited_share, found.lines, found.last_error) == (0.25, 4, "")
        assert (found.target, found.commit) == ("main", here.forge.head_of("main"))
        async with here.parts.sessions() as session:
            view = (await load_forge_views(session, [here.run]))[here.run]
        assert (view.ended_as, view.edited_share) == ("merged_edited", 0.25)


@pytest.mark.parametrize("method", ["merge", "squash"])
async def test_what_people_left_alone_is_merged_unchanged_until_it_is_reverted(
    database_url: str, tmp_path: Path, method: str
) -> None:
    async with scene(database_url, tmp_path) as here:
        here.push("main", "other.txt", "else\n", "Meanwhile")
        await here.merge(method)
        found = await here.look()
        assert (found.edited_share, found.reverted_at) == (0.0, None)
        merge = str(here.forge.head_of("main"))
        other = here.push("main", "other.txt", "more\n", "Revert to what was meant")
        reverted = here.push("main", "new.txt", "", f'Revert "x"\n\nThis reverts commit {merge}.')
        sign = read_delivery("push", here.forge.pushed("main", "Revert it"))
        assert isinstance(sign, ReviewStirred)
        member = here.members.named("github", REPO)
        assert member is not None
        assert await stir_merges(here.parts.sessions, member, sign) == 1
        found = await here.look()
        assert found.reverted_commit == reverted != other
        async with here.parts.sessions() as session:
            view = (await load_forge_views(session, [here.run]))[here.run]
        assert (view.ended_as, view.reverted_commit) == ("reverted", reverted)
        assert not await stir_merges(here.parts.sessions, member, ReviewStirred(REPO, branch="release"))


async def test_a_revert_that_a_later_list_does_not_reach_is_still_one(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.merge("merge")
        merge = str(here.forge.head_of("main"))
        reverted = here.push("main", "new.txt", "", f"Back\n\nThis reverts commit {merge}.")
        assert (await here.look()).reverted_commit == reverted
        assert here.forge.bare is not None
        run_git(here.forge.bare, "update-ref", "refs/heads/main", merge)
        assert (await here.look()).reverted_commit == reverted
        run_git(here.forge.bare, "update-ref", "refs/heads/main", reverted)
        here.push("main", "new.txt", "again\n", f"And again\n\nThis reverts commit {reverted}.")
        assert (await here.look()).reverted_commit is None


async def test_it_sleeps_for_30_days_and_then_for_good(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.merge("merge")
        found = await here.look()
        assert found.merged_at is not None
        assert found.look_at is not None
        assert found.look_at - found.merged_at >= timedelta(days=30)
        asked = len(here.forge.exchanges)
        await here.chore()
        assert len(here.forge.exchanges) == asked, "nothing is asked while it sleeps"
        long_ago = "2026-01-01T00:00:00Z"
        here.forge.pulls[100]["merged_at"] = long_ago
        assert (await here.look()).look_at is None


async def test_a_forge_that_is_away_delays_the_truth(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.merge("merge")
        here.forge.faults.append(Fault("GET", "/pulls/100$", 500))
        away = await here.look()
        assert "gave 500" in away.last_error
        assert away.look_at is not None
        gone = here.forge.bare.rename(here.forge.bare.with_name("hidden.git"))
        here.forge.bare = gone
        hidden = await here.look()
        assert "the merge is not compared" in hidden.last_error
        assert (hidden.edited_share, hidden.reverted_at) == (None, None)
        async with here.parts.sessions() as session:
            view = (await load_forge_views(session, [here.run]))[here.run]
        assert view.ended_as is None
        assert "not compared" in view.problem
        here.forge.bare = gone.rename(gone.with_name("widgets.git"))
        assert (await here.look()).edited_share == 0.0


async def test_only_what_was_delivered_is_followed(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        other = await here.parts.rows.run(status="completed")
        async with here.parts.sessions.begin() as session:
            place = {"forge": "github", "repository": REPO, "pull_number": 100, "branch": BRANCH}
            session.add(ForgeReport(run_id=other, root_run_id=here.run, pushed=[], **place))
        await here.merge("merge")
        async with here.parts.sessions() as session:
            assert list(await session.scalars(select(ForgeMerge.run_id))) == [here.run]
            assert (await session.get_one(ForgeReport, other)).outcome == "merged"
