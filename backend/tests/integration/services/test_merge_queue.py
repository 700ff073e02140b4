"""Results of one repository are judged in the order in which they would be merged."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import update

from app.core.errors import WorkspaceError
from app.db.models import ForgeReport
from app.forges.operator_file import credentials_of, parse_forges
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.phase_panel import PhasePanel
from app.services.forges.merge_queue import MergeQueue
from app.services.review.merging import MergeService
from app.services.review.rechecks import RecheckService
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy
from tests.git_http import TOKEN, run_git, serving_git
from tests.integration.services.forge_support import finished_run
from tests.integration.services.support import UseCases, at_once, git, use_cases
from tests.integration.services.test_reviews import FILE, REPO
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

SHARES = "def half(n):\n    return n // 2\n"
TEST = "import shares\n\n\ndef test_half() -> None:\n    assert shares.half(8) == 4\n"
RENAMED = {
    "shares.py": SHARES.replace("half", "halve"),
    "test_halve.py": TEST.replace("half", "halve"),
    "test_shares.py": None,
}
QUARTER = {
    "quarters.py": "import shares\n\n\ndef quarter(n):\n    return shares.half(shares.half(n))\n",
    "test_quarters.py": "from quarters import quarter\n\n\ndef test_it():\n    assert quarter(8) == 2\n",
}
UNRELATED = {"notes.txt": "Nothing to do with shares.\n"}
REWRITTEN = {"shares.py": SHARES.replace("n // 2", "int(n / 2)")}


@dataclass
class Scene:
    """A repository that results are delivered to."""

    parts: UseCases
    queue: MergeQueue
    url: str
    bare: Path

    async def finished(self, files: Mapping[str, str | None]) -> UUID:
        """A completed run whose result changes these files, with its report under way."""
        run_id = await finished_run(self.parts, self.url, files, "**")
        async with self.parts.sessions.begin() as session:
            session.add(ForgeReport(run_id=run_id, forge="github", repository=REPO))
        return run_id

    async def report(self, run_id: UUID, **values: object) -> ForgeReport:
        """Change a report, and read it."""
        async with self.parts.sessions.begin() as session:
            if values:
                await session.execute(update(ForgeReport).where(ForgeReport.run_id == run_id).values(values))
            return await session.get_one(ForgeReport, run_id)


@asynccontextmanager
async def scene(database_url: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    (project / "shares.py").write_text(SHARES)
    (project / "test_shares.py").write_text(TEST)
    git(project, "add", ".")
    git(project, "commit", "-qm", "begin")
    (tmp_path / "data").mkdir()
    with serving_git(tmp_path / "served") as server:
        bare = server.create(REPO, project)
        known = credentials_of(parse_forges(FILE.format(web=server.url), "forges.toml"), {"TOKEN": TOKEN})
        sources = SourcePolicy(allow_private_urls=True, credentials=known)
        async with use_cases(database_url, tmp_path / "data", sources) as parts:
            registry = EvaluatorRegistry()
            registry.register(PytestEvaluator(timeout=PATIENCE))
            merges = MergeService(parts.sessions, parts.results, parts.trees, Git.find(), sources)
            rechecks = RecheckService(parts.sessions, parts.results, merges, PhasePanel(registry))
            queue = MergeQueue(parts.sessions, rechecks, parts.trees)
            yield Scene(parts, queue, f"{server.url}/{REPO}", bare)


async def test_only_the_later_one_of_two_that_break_each_other_is_refused(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming, quarter = await here.finished(RENAMED), await here.finished(QUARTER)
        unrelated = await here.finished(UNRELATED)
        first = await here.queue.admit(renaming, renaming)
        assert (first.problem, first.after) == ("", [])
        place = (await here.report(renaming, pull_number=100, wanted=1, reported=1)).accepted_at
        assert place is not None
        second = await here.queue.admit(quarter, quarter)
        head = (await here.parts.rows.get(renaming)).head_commit
        assert (second.state, second.verdict, second.after) == ("clean", "failed", [f"#100 at {head[:12]}"])
        assert f"with #100 at {head[:12]}, which come before" in second.problem
        assert (await here.report(quarter)).accepted_at is None
        third = await here.queue.admit(unrelated, unrelated)
        assert (third.problem, third.after) == ("", [f"#100 at {head[:12]}"])
        # What was let in keeps its place: it is never judged with what came after it.
        again = await here.queue.admit(renaming, renaming)
        assert (again.problem, again.after) == ("", [])
        assert (await here.report(renaming)).accepted_at == place
        # The pull request before it is closed, so there is nothing to fit any more.
        await here.report(renaming, outcome="closed")
        last = await here.queue.admit(quarter, quarter)
        assert last.problem == ""
        assert [each.split()[0] for each in last.after] == ["run"], "only the unrelated one comes before"


async def test_a_conflict_names_what_comes_before(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming, rewriting = await here.finished(RENAMED), await here.finished(REWRITTEN)
        await here.queue.admit(renaming, renaming)
        found = await here.queue.admit(rewriting, rewriting)
        assert (found.state, found.conflicts) == ("conflicts", ["shares.py"])
        assert f"run {str(renaming)[:8]}" in found.problem


async def test_two_at_once_are_not_both_let_in(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        renaming, quarter = await here.finished(RENAMED), await here.finished(QUARTER)
        await at_once(here.queue.admit(renaming, renaming), here.queue.admit(quarter, quarter))
        places = [(await here.report(each)).accepted_at for each in (renaming, quarter)]
        assert len([each for each in places if each is not None]) == 1


async def test_one_that_conflicts_itself_binds_none_that_come_after(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        rewriting, unrelated = await here.finished(REWRITTEN), await here.finished(UNRELATED)
        await here.queue.admit(rewriting, rewriting)
        clone = tmp_path / "clone"
        run_git(tmp_path, "clone", "-q", str(here.bare), str(clone))
        (clone / "shares.py").write_text(SHARES.replace("n // 2", "n >> 1"))
        run_git(clone, "commit", "-qam", "Shift")
        run_git(clone, "push", "-q")
        found = await here.queue.admit(unrelated, unrelated)
        assert (found.problem, found.after) == ("", [])


async def test_a_source_that_is_away_lets_none_in(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        run = await here.finished(UNRELATED)
        here.bare.rename(here.bare.with_name("hidden.git"))
        with pytest.raises(WorkspaceError, match="cannot be fetched"):
            await here.queue.admit(run, run)
        assert (await here.report(run)).accepted_at is None


async def test_commits_of_people_are_part_of_what_comes_before(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        unrelated, quarter = await here.finished(UNRELATED), await here.finished(QUARTER)
        await here.queue.admit(unrelated, unrelated)
        clone = tmp_path / "clone"
        run_git(tmp_path, "clone", "-q", str(here.bare), str(clone))
        run_git(clone, "checkout", "-q", "-b", "theirs")
        (clone / "notes.txt").write_text(UNRELATED["notes.txt"])
        ours = commit_all(clone, "What the run pushed")
        await here.report(unrelated, pull_number=100, branch="theirs", pushed=[ours])
        assert (await here.queue.admit(quarter, quarter)).problem == ""
        await here.report(quarter, accepted_at=None)
        for name, content in RENAMED.items():
            (clone / name).unlink() if content is None else (clone / name).write_text(content)
        tip = commit_all(clone, "Rename by hand")
        found = await here.queue.admit(quarter, quarter)
        assert (found.verdict, found.after) == ("failed", [f"#100 at {tip[:12]}"])
        # The branch was deleted, which says nothing about the work: what the run pushed is there.
        run_git(clone, "push", "-q", "origin", ":theirs")
        head = (await here.parts.rows.get(unrelated)).head_commit
        last = await here.queue.admit(quarter, quarter)
        assert (last.problem, last.after) == ("", [f"#100 at {head[:12]}"])


def commit_all(clone: Path, message: str) -> str:
    """Commit and push as a person would; gives the commit."""
    run_git(clone, "add", "-A")
    run_git(clone, "commit", "-q", "-m", message)
    run_git(clone, "push", "-q", "origin", "HEAD")
    return run_git(clone, "rev-parse", "HEAD")
