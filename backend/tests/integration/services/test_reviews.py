"""Reviews of pull requests: rounds begin once, and nothing that people say is lost."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import event, select, text, update

from app.db.models import ForgeReport, ForgeReview, ResultCheck, Run, Snapshot
from app.forges.deliveries import ReviewStirred
from app.forges.github import GitHub
from app.forges.github_reviews import GitHubReviews
from app.forges.operator_file import credentials_of, parse_forges
from app.forges.port import NewPullRequest
from app.forges.repositories import Members
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.phase_panel import PhasePanel
from app.schemas.workspaces import GitSource
from app.services.forges.membership import MembershipChore
from app.services.forges.merge_queue import MergeQueue
from app.services.forges.pushes import PushService
from app.services.forges.reviews import ReviewChore
from app.services.forges.rounds import RoundService
from app.services.forges.signs import stir, wake
from app.services.review.rechecks import RecheckService
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.pushing import Push, push_branch
from tests.forge_double import Fault, GitHubDouble, github_double
from tests.git_http import TOKEN, fixed_token, run_git, serving_git
from tests.integration.services.forge_support import finished_run
from tests.integration.services.support import UseCases, at_once, git, make_repository, use_cases

pytestmark = pytest.mark.anyio

REPO = "acme/widgets"
BRANCH = "phaserunner/first"
FILE = """
[credentials.acme]
env = "TOKEN"
urls = ["{web}/acme/"]
[forges.github]
credential = "acme"
web = "{web}"
[[repositories]]
name = "acme/widgets"
forge = "github"
rules = {{ phases = ["coding"] }}
review = {{ rounds = 2, settle_seconds = 0 }}
"""
RESULT = {"b.py": "y = 1\n"}


@dataclass
class Scene:
    """A pull request of a run, and what follows it.

    What `meanwhile` holds happens at the next answer of the forge.
    """

    parts: UseCases
    forge: GitHubDouble
    members: Members
    make_chore: Callable[..., ReviewChore]
    chore: ReviewChore
    root: UUID
    meanwhile: list[Callable[[], Awaitable[None]]]

    @property
    def head(self) -> str:
        """The commit of the pull request's branch."""
        return str(self.forge.head_of(BRANCH))

    async def look(self) -> ForgeReview:
        """Make the review due, let it be looked at, and give what is known then."""
        async with self.parts.sessions.begin() as session:
            await session.execute(
                update(ForgeReview).values(look_at=datetime.now(UTC) - timedelta(seconds=1))
            )
        await self.chore()
        return await self.review()

    async def review(self) -> ForgeReview:
        """Read the review."""
        async with self.parts.sessions() as session:
            return await session.get_one(ForgeReview, self.root)

    async def rounds(self) -> list[UUID]:
        """Return the runs that are rounds."""
        async with self.parts.sessions() as session:
            found = select(ForgeReport.run_id).where(ForgeReport.root_run_id == self.root)
            return list(await session.scalars(found.order_by(ForgeReport.created_at)))

    async def end_round(
        self, run_id: UUID, status: str, problem: str = "", pushed: str | None = None
    ) -> None:
        """End a round as the engine and its report would."""
        async with self.parts.sessions.begin() as session:
            await session.execute(update(Run).where(Run.id == run_id).values(status=status))
            report = update(ForgeReport).where(ForgeReport.run_id == run_id)
            await session.execute(
                report.values(wanted=2, reported=2, last_error=problem, pushed=[pushed] if pushed else [])
            )

    def push(self, text: str, files: Mapping[str, str] | None = None, branch: str = BRANCH) -> str:
        """Push a commit to a branch as a person would, by default to that of the pull request."""
        clone = self.parts.data_dir / f"clone-{text}"
        run_git(self.parts.data_dir, "clone", "-q", "-b", branch, str(self.forge.bare), str(clone))
        for name, content in (files or {f"{text}.txt": text}).items():
            (clone / name).write_text(content)
        run_git(clone, "add", "-A")
        run_git(clone, "commit", "-q", "-m", text)
        run_git(clone, "push", "-q")
        return str(self.forge.head_of(branch))


@asynccontextmanager
async def scene(
    database_url: str,
    tmp_path: Path,
    files: Mapping[str, str] | None = None,
    gates: EvaluatorRegistry | None = None,
    pushes: str = "report",
) -> AsyncGenerator[Scene]:
    """Open a pull request with a run's result.

    Args:
        database_url: of the database.
        tmp_path: a directory.
        files: further files of the project.
        gates: judge; by default none does, so that there is no verdict.
        pushes: what follows if they fail what people pushed.
    """
    project = make_repository(tmp_path / "project")
    for name, content in (files or {}).items():
        (project / name).write_text(content)
        git(project, "add", name)
        git(project, "commit", "-qm", name)
    (tmp_path / "data").mkdir()
    with serving_git(tmp_path / "served") as server:
        bare = server.create(REPO, project)
        main = run_git(bare, "rev-parse", "--abbrev-ref", "HEAD")
        run_git(bare, "branch", "-M", main, "main")
        run_git(bare, "branch", BRANCH)
        document = FILE.format(web=server.url).replace("rounds = 2", f'rounds = 2, pushes = "{pushes}"')
        members = Members(parse_forges(document, "forges.toml"))
        known = credentials_of(members.file, {"TOKEN": TOKEN})
        sources = SourcePolicy(allow_private_urls=True, credentials=known)
        with github_double(REPO, server.url, bare) as double:
            async with use_cases(database_url, tmp_path / "data", sources) as parts:
                yield await _scene(parts, double, members, sources, gates or EvaluatorRegistry())


async def _scene(
    parts: UseCases,
    double: GitHubDouble,
    members: Members,
    sources: SourcePolicy,
    gates: EvaluatorRegistry,
) -> Scene:
    meanwhile: list[Callable[[], Awaitable[None]]] = []

    async def answered(_: httpx.Response) -> None:
        while meanwhile:
            await meanwhile.pop()()

    client = partial(httpx.AsyncClient, timeout=30.0, event_hooks={"response": [answered]})
    forge = GitHub(client, double.url, fixed_token(TOKEN))
    reading = GitHubReviews(client, double.url, fixed_token(TOKEN), forge)

    def make_chore(known: Members, panel: EvaluatorRegistry = gates) -> ReviewChore:
        rechecks = RecheckService(parts.sessions, parts.results, parts.merges, PhasePanel(panel))
        return ReviewChore(
            parts.sessions,
            known,
            {"github": forge},
            {"github": reading},
            RoundService(parts.sessions, parts.sprints, MergeQueue(parts.sessions, rechecks, parts.trees)),
            PushService(parts.sessions, parts.results, parts.trees, rechecks, sources),
        )

    root = await finished_run(parts, f"{double.web}/{REPO}", RESULT)
    await _offer(parts, root, double, sources)
    await forge.open_pull(REPO, NewPullRequest(title="x", body="", head=BRANCH, base="main", draft=False))
    here = Scene(parts, double, members, make_chore, make_chore(members), root, meanwhile)
    async with parts.sessions.begin() as session:
        session.add(
            ForgeReport(
                run_id=root,
                forge="github",
                repository=REPO,
                branch=BRANCH,
                pull_number=100,
                pushed=[here.head],
            )
        )
        await session.flush()
        await wake(session, root, _rules(members))
    return here


async def _offer(parts: UseCases, root: UUID, double: GitHubDouble, sources: SourcePolicy) -> None:
    """Push the result of the first run, as its report would."""
    head = (await parts.rows.get(root)).head_commit
    source = GitSource(url=f"{double.web}/{REPO}", credential="acme")
    seen = frozenset([str(double.head_of(BRANCH))])
    push = Push(source, BRANCH, head, replaces=seen)
    await push_branch(push, await parts.trees.repository(root, head), sources)


def _rules(members: Members) -> Any:
    (repository,) = members.file.repositories
    return repository.review


async def test_a_round_begins_once_and_on_top_of_the_branch(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        assert (await here.look()).state == "watching"
        here.push("theirs")
        here.forge.check(here.head, "lint", "failure", "E501 too long")
        before = await here.review()
        await at_once(here.look(), here.look(), here.look())
        (first,) = await here.rounds()
        async with here.parts.sessions.begin() as session:
            # The worker died before it recorded the round.
            await session.execute(
                update(ForgeReview).values(state=before.state, rounds=before.rounds, round_run_id=None)
            )
        found = await here.look()
        assert await here.rounds() == [first]
        assert (found.state, found.rounds, found.round_run_id) == ("working", 1, first)
        async with here.parts.sessions() as session:
            run = await session.get_one(Run, first)
            report = await session.get_one(ForgeReport, first)
            kept = set(await session.scalars(select(Snapshot.commit).where(Snapshot.run_id == first)))
        assert any("E501 too long" in each for each in run.guidance)
        assert kept == {run.base_commit, run.head_commit}, "any worker can restore what it begins with"
        assert run.base_commit == here.forge.head_of("main")
        assert (report.parents, report.branch, report.pull_number) == ([here.head], BRANCH, 100)
        repository = await here.parts.trees.repository(first, run.head_commit)
        assert await repository.read_file(run.head_commit, "theirs.txt", 100) == b"theirs"


async def test_what_people_pushed_meanwhile_stays_and_nothing_they_said_is_lost(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        await here.look()
        (first,) = await here.rounds()
        theirs = here.push("meanwhile")
        await here.end_round(first, "completed", "the branch holds other commits; it stays as it is")
        found = await here.look()
        _, second = await here.rounds()
        assert (found.state, found.rounds) == ("working", 2)
        async with here.parts.sessions() as session:
            assert (await session.get_one(ForgeReport, second)).parents[0] == theirs
            assert "ada wrote in a review:\n\nRename it." in (await session.get_one(Run, second)).guidance


async def test_a_round_that_fails_stops_until_something_new_is_said(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        await here.look()
        (first,) = await here.rounds()
        assert (await here.look()).state == "working", "it goes on"
        await here.end_round(first, "failed")
        stopped = await here.look()
        assert (stopped.state, stopped.reason) == ("stopped", "round 1 pushed nothing: its sprint is failed")
        assert (await here.look()).state == "stopped"
        (comment,) = here.forge.comments_of(100)
        assert "round 1 pushed nothing" in comment
        here.forge.review(100, "COMMENTED", "Then only document it.")
        assert (await here.look()).state == "working"
        _, second = await here.rounds()
        await here.end_round(second, "completed", pushed=here.push("answer"))
        here.forge.check(here.head, "lint", "failure", "still")
        assert (await here.look()).state == "spent"
        assert len(here.forge.comments_of(100)) == 1


async def test_a_round_that_cannot_be_merged_is_answered_by_the_next_one(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        await here.look()
        (first,) = await here.rounds()
        check = {"result_commit": here.head, "branch": "main", "commit": here.head, "state": "conflicts"}
        async with here.parts.sessions.begin() as session:
            session.add(ResultCheck(run_id=first, conflicts=["a.py"], after=["#7 at 1234"], **check))
        await here.end_round(first, "completed", problem="it conflicts")
        assert (await here.look()).reason == "round 2 of 2"
        _, second = await here.rounds()
        async with here.parts.sessions() as session:
            told = "\n".join((await session.get_one(Run, second)).guidance)
        assert "it conflicts with main at" in told
        assert "with #7 at 1234, which come before: a.py" in told
        assert "ada wrote in a review:\n\nRename it." in told, "the round did not answer it"
        # It is refused as well: all rounds are used, and the comment says that a person has to go on.
        async with here.parts.sessions.begin() as session:
            session.add(ResultCheck(run_id=second, conflicts=["a.py"], **check))
        await here.end_round(second, "completed", problem="it conflicts")
        spent = await here.look()
        assert (spent.state, spent.rounds) == ("spent", 2)
        assert "a person has to go on" in here.forge.comments_of(100)[0]


@pytest.mark.parametrize("status", [None, 500], ids=["it succeeds", "it fails"])
async def test_a_look_that_outlasts_its_lease_leaves_the_next_one_alone(
    database_url: str, tmp_path: Path, status: int | None
) -> None:
    async with scene(database_url, tmp_path) as here:
        at = datetime.now(UTC) + timedelta(hours=1)
        theirs = {"state": "stopped", "reason": "said so", "comment_id": 7, "look_at": at, "last_error": "x"}

        async def another_worker_takes_it() -> None:
            async with here.parts.sessions.begin() as session:
                await session.execute(update(ForgeReview).values(tries=ForgeReview.tries + 1, **theirs))

        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        if status is not None:
            here.forge.faults.append(Fault("GET", "", status))
        here.meanwhile.append(another_worker_takes_it)
        found = await here.look()
        assert {name: getattr(found, name) for name in theirs} == theirs


async def test_a_look_may_take_as_long_as_gates_do(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        taken: list[int] = []

        async def half_an_hour_passes() -> None:
            async with here.parts.sessions.begin() as session:
                earlier = ForgeReview.look_at - timedelta(minutes=30)
                await session.execute(update(ForgeReview).values(look_at=earlier))
            taken.append(await here.chore())

        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        here.meanwhile.append(half_an_hour_passes)
        found = await here.look()
        assert (taken, found.state) == ([0], "working")


async def test_a_round_is_recorded_although_something_happens_meanwhile(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        at = datetime.now(UTC) + timedelta(hours=1)  # no event sets a later time

        async def something_happens() -> None:
            async with here.parts.sessions.begin() as session:
                await session.execute(update(ForgeReview).values(tries=0, look_at=at))

        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        here.meanwhile.append(something_happens)
        found = await here.look()
        assert (found.state, found.rounds, found.look_at) == ("working", 1, at)


async def test_lost_deliveries_are_made_up_for(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        here.forge.merge(100)
        assert (await here.look()).state == "ended"
        async with here.parts.sessions() as session:
            report = await session.get_one(ForgeReport, here.root)
            assert (report.outcome, report.outcome_by) == ("merged", None)
        assert (await here.review()).look_at is None, "it costs nothing any more"


async def test_a_forge_that_is_away_delays_the_look(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        reset = int((datetime.now(UTC) + timedelta(hours=1)).timestamp())
        limited = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
        here.forge.faults += [Fault("GET", "/pulls/100$", 500), Fault("GET", "/pulls/100$", 403, limited)]
        away = await here.look()
        assert "gave 500" in away.last_error
        waits = await here.look()
        assert waits.look_at is not None
        assert int(waits.look_at.timestamp()) == reset
        assert (await here.look()).last_error == ""


async def test_five_hundred_that_wait_cost_nothing(database_url: str, tmp_path: Path) -> None:
    """A look takes the statements that it takes without any, writes nothing, and asks no forge."""
    async with scene(database_url, tmp_path) as here:
        await here.look()
        alone = await statements_of(here)
        async with here.parts.sessions.begin() as session:
            later = {"look_at": datetime.now(UTC) + timedelta(hours=1), "state": "watching"}
            runs = [await here.parts.rows.run(status="completed") for _ in range(500)]
            session.add_all(
                ForgeReport(run_id=each, forge="github", repository=REPO, pull_number=200 + number)
                for number, each in enumerate(runs)
            )
            await session.flush()
            session.add_all(ForgeReview(run_id=each, **later) for each in runs)
        before, asked = await versions_of(here), len(here.forge.exchanges)
        assert await statements_of(here) == alone
        assert await versions_of(here) == before
        assert len(here.forge.exchanges) == asked


async def statements_of(here: Scene) -> list[str]:
    """Let reviews be looked for once; give the statements."""
    engine, said = here.parts.sessions.kw["bind"].sync_engine, list[str]()

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        said.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        assert await here.chore() == 0
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return said


async def versions_of(here: Scene) -> list[tuple[Any, ...]]:
    """Return which transaction wrote each review last."""
    async with here.parts.sessions() as session:
        found = await session.execute(text("SELECT run_id, xmin::text FROM forge_reviews ORDER BY run_id"))
        return [tuple(each) for each in found]


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        (ReviewStirred(REPO, number=100), 1),
        (ReviewStirred(REPO, number=101), 0),
        (ReviewStirred(REPO, branch="main"), 1),
        (ReviewStirred(REPO, branch="release"), 0),
        (ReviewStirred(REPO, commit="f" * 40), 0),
    ],
)
async def test_an_event_wakes_what_it_may_concern(
    database_url: str, tmp_path: Path, sign: ReviewStirred, expected: int
) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.look()
        member = here.members.named("github", REPO)
        assert member is not None
        assert await stir(here.parts.sessions, member, _rules(here.members), sign) == expected
        by_head = ReviewStirred(REPO, commit=here.head)
        assert await stir(here.parts.sessions, member, _rules(here.members), by_head) == 1


async def test_a_review_goes_on_when_the_file_names_its_repository_again(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.look()
        known = here.chore
        here.chore = here.make_chore(without_review(here, "acme/other"))
        asleep = await here.look()
        assert asleep.look_at is None, "it costs nothing"
        assert "acme/widgets is no longer in FORGES_FILE" in asleep.last_error
        assert asleep.reason == "waits for a review"
        here.forge.review(100, "CHANGES_REQUESTED", "Rename it.")
        here.chore = known
        assert await MembershipChore(here.parts.sessions, here.members)() == 1
        assert await known() == 1
        assert ((await here.review()).state, (await here.review()).last_error) == ("working", "")


async def test_a_review_goes_on_under_the_new_name_of_its_repository(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as here:
        await here.look()
        async with here.parts.sessions.begin() as session:
            await session.execute(update(ForgeReport).values(repository="acme/Gadgets"))
        asleep = await here.look()
        assert asleep.look_at is None
        members = renamed(here)
        start = MembershipChore(here.parts.sessions, members)
        assert await start() == 2, "its name, and its review"
        assert await start() == 0, "it is done once"
        member = members.named("github", REPO)
        assert member is not None
        sign = ReviewStirred(REPO, number=100)
        assert await stir(here.parts.sessions, member, _rules(members), sign) == 1, "deliveries find it"


async def test_what_sleeps_for_other_reasons_goes_on_sleeping(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        here.forge.merge(100)
        await here.look()
        assert await MembershipChore(here.parts.sessions, here.members)() == 0
        assert (await here.review()).look_at is None


async def test_a_review_waits_until_the_file_wants_it_again(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        here.chore = here.make_chore(without_review(here, "acme/widgets"))
        asleep = await here.look()
        assert "has no `review` in FORGES_FILE" in asleep.last_error
        assert await MembershipChore(here.parts.sessions, without_review(here, "acme/widgets"))() == 0
        assert await MembershipChore(here.parts.sessions, here.members)() == 1


def without_review(here: Scene, name: str) -> Members:
    """Return a file that names a repository, which is not followed."""
    text = FILE.format(web=here.forge.web).replace('name = "acme/widgets"', f'name = "{name}"')
    return Members(parse_forges(text.partition("review = ")[0], "forges.toml"))


def renamed(here: Scene) -> Members:
    """Return a file that knows the former name of the repository."""
    text = FILE.format(web=here.forge.web).replace(
        'forge = "github"', 'forge = "github"\nformer_names = ["acme/gadgets"]'
    )
    return Members(parse_forges(text, "forges.toml"))
