"""Whatever the order of feedback, looks, reports and deaths: all that is said is answered once."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from typing_extensions import override

from app.core.credentials import Credentials
from app.db.models import ForgeReport, ForgeReview, Run
from app.forges.github import GitHub
from app.forges.github_reviews import GitHubReviews
from app.services.forges.inbox import ForgeInbox
from app.services.forges.merge_queue import MergeQueue
from app.services.forges.pushes import PushService
from app.services.forges.reviews import ReviewChore
from app.services.forges.rounds import RoundService
from tests.forge_double import SECRET, signed
from tests.git_http import TOKEN, fixed_token, run_git
from tests.integration.services.test_forge_interleavings import Step, World, empty, world

PULL = 100
REVIEW = "review = { rounds = 20, settle_seconds = 0 }\n"
_MAX_LOOKS = 25

Event = Literal["fail", "say", "clash", "push", "look", "work", "report", "finish", "kill", "lose", "away"]
EVENTS: tuple[Event, ...] = (
    "fail", "say", "clash", "push", "look", "work", "report", "finish", "kill", "lose", "away"
)  # fmt: skip


@dataclass
class Reviewed(World):
    """A forge with a pull request that is followed.

    Attributes:
        said: what people asked for.
        theirs: commits that people pushed.
        heads: each head that the branch has had.
    """

    said: list[str] = field(default_factory=list[str])
    theirs: list[str] = field(default_factory=list[str])
    heads: list[str] = field(default_factory=list[str])
    clashes: int = 0

    @property
    def branch(self) -> str:
        """The branch of the pull request."""
        return str(self.forge.pulls[PULL]["head"]["ref"])

    def head(self) -> str:
        """Return the commit of the branch, and remember it."""
        self.heads.append(str(self.forge.head_of(self.branch)))
        return self.heads[-1]

    async def happen(self, event: Event) -> None:
        """Let one thing happen."""
        match event:
            case "fail":
                await self.tell(self.forge.check(self.head(), "lint", "failure", "E501"), "check_run")
            case "say":
                self.said.append(f"Rename it, {len(self.said)}.")
                told = self.forge.review(PULL, "CHANGES_REQUESTED", self.said[-1])
                await self.tell(told, "pull_request_review")
            case "clash":
                self.clashes += 1
                self.commit("main", "b.py", f"y = 1  # {self.clashes}\n")
                await self.tell(self.forge.pushed("main", "Mend it here"), "push")
            case "push":
                self.theirs.append(self.commit(self.branch, f"theirs-{len(self.theirs)}.txt", "By hand\n"))
                await self.tell(self.forge.synchronized(PULL), "pull_request")
            case "look":
                await self.make_due()
                await self.work(self.reviews())
            case _:
                await self.do(event)

    def commit(self, branch: str, name: str, text: str) -> str:
        """Push a commit to a branch as a person would; gives the commit."""
        bare, old = self.forge.bare, str(self.forge.head_of(branch))
        blob = run_git(bare, "hash-object", "-w", "--stdin", stdin=text.encode())
        listing = [
            each for each in run_git(bare, "ls-tree", old).splitlines() if not each.endswith(f"\t{name}")
        ]
        tree = run_git(bare, "mktree", stdin="\n".join([*listing, f"100644 blob {blob}\t{name}\n"]).encode())
        made = run_git(bare, "commit-tree", tree, "-p", old, "-m", f"By hand: {name}")
        run_git(bare, "update-ref", f"refs/heads/{branch}", made, old)
        return made

    async def tell(self, payload: dict[str, object], event: str) -> None:
        """Let the forge deliver something."""
        request = signed(payload, event)
        inbox = ForgeInbox(self.parts.sessions, self.members.file, Credentials(environ={"SECRET": SECRET}))
        await inbox.take(request.headers, request.content)

    def reviews(self) -> ReviewChore:
        """Make what looks at pull requests."""
        parts, client = self.parts, self.client()
        forge = GitHub(client, self.forge.url, fixed_token(TOKEN))
        reading = GitHubReviews(client, self.forge.url, fixed_token(TOKEN), forge)
        queue = MergeQueue(parts.sessions, self.rechecks(), parts.trees)
        return ReviewChore(
            parts.sessions,
            self.members,
            {"github": forge},
            {"github": reading},
            RoundService(parts.sessions, parts.sprints, queue),
            PushService(parts.sessions, parts.results, parts.trees, self.rechecks(), self.sources),
        )

    @override
    async def make_due(self) -> None:
        await super().make_due()
        async with self.parts.sessions.begin() as session:
            waits = update(ForgeReview).where(ForgeReview.look_at.is_not(None))
            await session.execute(waits.values(look_at=datetime(2020, 1, 1, tzinfo=UTC)))

    async def offer(self) -> None:
        """Let a first result become a pull request."""
        steps: tuple[Step, ...] = ("webhook", "work", "report", "finish", "report")
        for step in steps:
            await self.do(step)
        assert list(self.forge.pulls) == [PULL]

    @override
    async def settle(self) -> None:
        """End the faults, and go on until two looks change nothing."""
        self.forge.faults.clear()
        self.dies_after = 0
        quiet = 0
        for _ in range(_MAX_LOOKS):
            before = (self.head(), len(await self.runs()))
            for event in ("work", "look", "finish", "report"):
                await self.happen(event)
            quiet = quiet + 1 if before == (self.head(), len(await self.runs())) else 0
            if quiet == 2:
                return
        raise AssertionError("it does not come to rest")

    async def guidance(self) -> list[str]:
        """Return what each round was told."""
        async with self.parts.sessions() as session:
            rounds = select(Run).join(ForgeReport, ForgeReport.run_id == Run.id)
            found = await session.scalars(rounds.where(ForgeReport.root_run_id.is_not(None)))
            return ["\n".join(each.guidance) for each in found]


async def check(database_url: str, place: Path, events: list[Event]) -> None:
    async with world(database_url, place, Reviewed, REVIEW) as here:
        assert isinstance(here, Reviewed)
        await here.offer()
        for event in events:
            await here.happen(event)
        await here.settle()
        told = await here.guidance()
        for each in here.said:
            answers = [one for one in told if each in one]
            assert answers, "nothing that people say is lost"
            assert len(answers) == 1 or here.theirs, "only what people push meanwhile makes it be asked again"
        kept = {*here.heads, *here.theirs}
        assert {each for each in kept if not is_in(here, each)} == set(), "nothing is overwritten"
        assert is_in(here, str(here.forge.head_of("main"))) or not here.clashes, "conflicts are solved"
        failed = [each["conclusion"] for each in here.forge.checks.get(here.head(), [])]
        assert failed == [], "a failed check is answered by another commit"
        assert list(here.forge.pulls) == [PULL]
        assert len(here.forge.comments_of(7)) == 1
        assert len(here.forge.comments_of(PULL)) == (1 if told or here.theirs else 0)
        await check_rows(here, len(told))


async def check_rows(here: Reviewed, rounds: int) -> None:
    """Nothing waits any more, and no round was started twice."""
    async with here.parts.sessions() as session:
        review = (await session.scalars(select(ForgeReview))).one()
        reports = list(await session.scalars(select(ForgeReport)))
    assert (review.rounds, review.state, review.last_error) == (rounds, "watching", "")
    assert [each.trigger for each in reports].count(None) <= 1
    assert all(each.wanted == each.reported for each in reports)


def is_in(here: Reviewed, commit: str) -> bool:
    """Tell whether the branch holds a commit."""
    return run_git(here.forge.bare, "merge-base", commit, here.branch) == commit


@given(events=st.lists(st.sampled_from(EVENTS), min_size=3, max_size=10))
@settings(
    max_examples=6,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_interleaving_answers_all_feedback(
    database_url: str, tmp_path_factory: pytest.TempPathFactory, events: list[Event]
) -> None:
    async def example() -> None:
        await empty(database_url)
        await check(database_url, tmp_path_factory.mktemp("world"), events)

    anyio.run(example)


def test_a_worker_that_dies_again_and_again_while_rounds_go_on(database_url: str, tmp_path: Path) -> None:
    killed: list[Event] = ["kill", "look", "kill", "look", "finish", "kill", "report", "kill", "report"]
    events: list[Event] = ["fail", "say", "clash", *killed, "say", "work", *killed, "push", "say", *killed]
    anyio.run(check, database_url, tmp_path, events)
