"""Whatever the order of deliveries, lost answers and restarts: one run, one pull request, one comment."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import anyio
import anyio.lowlevel
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update
from typing_extensions import override

from app.core.credentials import Credentials
from app.db.models import Attempt, ForgeDelivery, ForgePoll, ForgeReport, Run, Snapshot
from app.forges.github import GitHub
from app.forges.github_polling import GitHubPolling
from app.forges.operator_file import credentials_of, parse_forges
from app.forges.port import ForgesByName
from app.forges.repositories import Members
from app.forges.rest import OpenClient
from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.phase_panel import PhasePanel
from app.services.control.cancelling import CancelService
from app.services.forges.inbox import ForgeDeliveryChore, ForgeInbox
from app.services.forges.issues import IssueService
from app.services.forges.merge_queue import MergeQueue
from app.services.forges.offers import OfferService
from app.services.forges.polls import PollChore
from app.services.forges.reports import ForgeReportService
from app.services.forges.returns import ReturnService
from app.services.forges.rounds import RoundService
from app.services.forges.wishes import WishService
from app.services.review.merging import MergeService
from app.services.review.rechecks import RecheckService
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy
from tests.forge_double import SECRET, Fault, GitHubDouble, github_double, signed
from tests.git_http import TOKEN, fixed_token, run_git, serving_git
from tests.integration.services.support import UseCases, make_repository, use_cases
from tests.patience import PATIENCE

REPO = "acme/widgets"
FILE = """
[credentials.acme]
env = "TOKEN"
urls = ["{web}/acme/"]
[forges.github]
credential = "acme"
web = "{web}"
webhook_secret = {{ env = "SECRET" }}
[[repositories]]
name = "acme/widgets"
forge = "github"
rules = {{ labels = ["go"], commands = true, poll_minutes = 1, phases = ["coding"] }}
"""
LOST = [("POST", "/comments$"), ("PATCH", "/comments/"), ("POST", "/pulls$"), ("POST", "/statuses/")]

Step = Literal["webhook", "poll", "work", "report", "finish", "die", "kill", "lose", "away", "merge"]
STEPS: tuple[Step, ...] = (
    "webhook", "poll", "work", "report", "finish", "die", "kill", "lose", "away", "merge"
)  # fmt: skip


@dataclass
class Worker:
    """A service; each step may be done by another worker, which knows nothing but the rows."""

    parts: UseCases
    members: Members
    sources: SourcePolicy

    def forges(self) -> ForgesByName:
        """Make what speaks with the forge."""
        raise NotImplementedError

    def deliveries(self) -> ForgeDeliveryChore:
        """Make what works deliveries."""
        parts, forges = self.parts, self.forges()
        issues = IssueService(parts.sprints, self.members, forges)
        cancels = CancelService(parts.sessions, parts.bell)
        wishes = WishService(parts.sessions, self.members, forges, issues, parts.escalations, cancels)
        return ForgeDeliveryChore(parts.sessions, wishes)

    def merges(self) -> MergeService:
        """Make what merges."""
        parts = self.parts
        return MergeService(parts.sessions, parts.results, parts.trees, Git.find(), self.sources)

    def rechecks(self) -> RecheckService:
        """Make what judges without an agent."""
        registry = EvaluatorRegistry()
        registry.register(RuffLintEvaluator(timeout=PATIENCE))
        return RecheckService(self.parts.sessions, self.parts.results, self.merges(), PhasePanel(registry))

    def reports(self) -> ForgeReportService:
        """Make what reports."""
        parts, merges = self.parts, self.merges()
        queue = MergeQueue(parts.sessions, self.rechecks(), parts.trees)
        return ForgeReportService(
            parts.sessions,
            self.members,
            self.forges(),
            parts.queries,
            parts.results,
            queue,
            OfferService(parts.sessions, parts.trees, merges, self.sources),
            ReturnService(parts.sessions, RoundService(parts.sessions, parts.sprints, queue)),
        )

    async def runs(self) -> list[UUID]:
        """Return every run."""
        async with self.parts.sessions() as session:
            return list(await session.scalars(select(Run.id)))

    async def finish(self) -> None:
        """Let each unfinished run end with a result, as the engine would."""
        async with self.parts.sessions() as session:
            open_ones = list(await session.scalars(select(Run).where(Run.status != "completed")))
        for run in open_ones:
            # A round goes on with the branch of its pull request.
            async with self.parts.trees.open(run.id, run.head_commit, 1) as (tree,):
                await anyio.Path(tree / "b.py").write_text("y = 1\n")
                made = await self.parts.trees.commit(run.id, tree, run.base_commit, run.base_commit, "do")
            await self.parts.rows.attempt(run.id, head_commit=made.commit, status="passed")
            async with self.parts.sessions.begin() as session:
                session.add(Snapshot(run_id=run.id, commit=made.commit, kind="attempt", bundle=made.bundle))
                values = {"status": "completed", "head_commit": made.commit, "phase": None}
                await session.execute(update(Run).where(Run.id == run.id).values(values))
                await session.execute(
                    update(Attempt).where(Attempt.run_id == run.id).values(verdict="passed")
                )
                report = update(ForgeReport).where(ForgeReport.run_id == run.id)
                await session.execute(report.values(wanted=ForgeReport.wanted + 1, tries=0))

    async def make_due(self) -> None:
        """Let time pass: leases and pauses end."""
        async with self.parts.sessions.begin() as session:
            for table in (ForgeDelivery, ForgeReport, ForgePoll):
                await session.execute(update(table).values(next_at=datetime(2020, 1, 1, tzinfo=UTC)))


@dataclass
class World(Worker):
    """A forge and a service."""

    forge: GitHubDouble
    request: httpx.Request
    lost: int = 0
    killed: int = 0
    asked: int = 0
    dies_after: int = 0
    life: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def do(self, step: Step) -> None:
        """Do one step."""
        match step:
            case "webhook" | "finish" | "merge":
                await {"webhook": self.deliver, "finish": self.finish, "merge": self.merge}[step]()
            case "poll":
                await self.make_due()
                await PollChore(self.parts.sessions, self.members, _polling(self.forge))()
            case "work" | "report":
                await self.make_due()
                await self.work(self.deliveries() if step == "work" else self.reports())
            case "kill":
                # The worker dies in the midst of what it does: after its first answer, its fourth, and so on.
                self.dies_after = 1 + 3 * self.killed % 8
                self.killed += 1
            case "die":
                await self.take_and_die()
            case "lose":
                method, path = LOST[self.lost % len(LOST)]
                self.forge.faults.append(Fault(method, path, 0))
                self.lost += 1
            case _:
                self.forge.faults.append(Fault("GET", "", 500))

    async def deliver(self) -> None:
        """Let the forge deliver; each time but the first it is a redelivery."""
        secrets = Credentials(environ={"SECRET": SECRET})
        inbox = ForgeInbox(self.parts.sessions, self.members.file, secrets)
        await inbox.take(self.request.headers, self.request.content)

    async def work(self, chore: Callable[[], Awaitable[int]]) -> None:
        """Do what is due, as long as the worker lives."""
        with anyio.CancelScope() as self.life:
            await chore()
        self.asked = 0
        if self.life.cancelled_caught:
            self.dies_after = 0

    async def merge(self) -> None:
        """Let a person merge the pull request, if there is one; the forge tells of it."""
        for number, pull in self.forge.pulls.items():
            if pull["state"] == "open":
                request = signed(self.forge.merge(number), "pull_request")
                inbox = ForgeInbox(
                    self.parts.sessions, self.members.file, Credentials(environ={"SECRET": SECRET})
                )
                await inbox.take(request.headers, request.content)

    @override
    def forges(self) -> ForgesByName:
        return {"github": GitHub(self.client(), self.forge.url, fixed_token(TOKEN))}

    def client(self) -> OpenClient:
        """Make what opens clients; the worker dies after so many answers."""

        async def answered(_: httpx.Response) -> None:
            self.asked += 1
            if self.asked == self.dies_after:
                self.life.cancel()
                await anyio.lowlevel.checkpoint()

        return partial(httpx.AsyncClient, event_hooks={"response": [answered]})

    async def take_and_die(self) -> None:
        """Leave the rows as a worker does that took them and was killed."""
        later = func.now() + func.make_interval(0, 0, 0, 0, 0, 15)
        async with self.parts.sessions.begin() as session:
            for table in (ForgeDelivery, ForgeReport):
                await session.execute(update(table).values(tries=table.tries + 1, next_at=later))

    async def settle(self) -> None:
        """End the faults, and let everything be done that is to be done."""
        self.forge.faults.clear()
        self.dies_after = 0
        for step in ("poll", "work", "finish", "report"):
            await self.do(step)


@asynccontextmanager
async def world(
    database_url: str, place: Path, kind: type[World] = World, more: str = ""
) -> AsyncGenerator[World]:
    """Open a forge with an issue that is labeled; `more` is the end of the operator's file."""
    project = make_repository(place / "project")
    (place / "data").mkdir()
    with serving_git(place / "served") as server:
        bare = server.create(REPO, project)
        members = Members(parse_forges(FILE.format(web=server.url) + more, "forges.toml"))
        sources = SourcePolicy(
            allow_private_urls=True, credentials=credentials_of(members.file, {"TOKEN": TOKEN})
        )
        with github_double(REPO, server.url, bare) as double:
            double.add_issue(7, "Add b", "")
            async with use_cases(database_url, place / "data", sources) as parts:
                await PollChore(parts.sessions, members, _polling(double))()
                request = signed(double.labeled(7, "go"), "issues")
                yield kind(parts, members, sources, double, request)


def _polling(double: GitHubDouble) -> Any:
    return {"github": GitHubPolling(httpx.AsyncClient, double.url, fixed_token(TOKEN))}


async def check(database_url: str, place: Path, steps: list[Step]) -> None:
    async with world(database_url, place) as here:
        for step in steps:
            await here.do(step)
        await here.settle()
        assert len(await here.runs()) == 1
        (pull,) = here.forge.pulls.values()
        (comment,) = here.forge.comments_of(7)
        assert "Pull request:" in comment
        (branch,) = run_git(
            here.forge.bare, "for-each-ref", "--format=%(refname)", "refs/heads/phaserunner"
        ).split()
        assert run_git(here.forge.bare, "show", f"{branch}:b.py") == "y = 1"
        async with here.parts.sessions() as session:
            waiting = select(func.count()).where(ForgeDelivery.status.in_(["pending", "failed"]))
            assert await session.scalar(waiting) == 0
            (report,) = await session.scalars(select(ForgeReport))
            assert (report.reported, report.last_error) == (report.wanted, "")
            assert report.outcome == ("merged" if pull["state"] == "closed" else None), "no event is lost"


async def empty(database_url: str) -> None:
    """Take out the rows of the example before."""
    async with use_cases(database_url, Path()) as parts, parts.sessions.begin() as session:
        for table in (ForgeDelivery, ForgePoll, Run):
            await session.execute(table.__table__.delete())


@given(steps=st.lists(st.sampled_from(STEPS), max_size=10))
@settings(
    max_examples=8,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_interleaving_opens_one_pull_request(
    database_url: str, tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    async def example() -> None:
        await empty(database_url)
        await check(database_url, tmp_path_factory.mktemp("world"), steps)

    anyio.run(example)


def test_a_worker_that_is_killed_after_each_answer(database_url: str, tmp_path: Path) -> None:
    steps: list[Step] = ["webhook", "kill", "work", "kill", "report", "finish"]
    for _ in range(6):
        steps += ["kill", "report"]
    anyio.run(check, database_url, tmp_path, [*steps, "merge", "kill", "report"])


def test_a_merge_that_is_told_before_the_pull_request_is_known(database_url: str, tmp_path: Path) -> None:
    steps: list[Step] = ["webhook", "work", "report", "finish", "lose", "lose", "lose"]
    anyio.run(check, database_url, tmp_path, [*steps, "report", "merge", "work"])


def test_answers_that_are_lost_all_the_way(database_url: str, tmp_path: Path) -> None:
    """Each request that makes something is answered by nothing at first, and workers die in between."""
    lose: list[Step] = ["lose", "lose", "lose", "lose"]
    steps: list[Step] = [
        "webhook",
        "poll",
        *lose,
        "work",
        "report",
        "die",
        "finish",
        "report",
        "die",
        "report",
    ]
    anyio.run(check, database_url, tmp_path, steps)
