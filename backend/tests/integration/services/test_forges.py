"""Deliveries of a forge: checked, recorded once, and worked by the operator's rules."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import select, update

from app.core.credentials import Credentials
from app.core.errors import InvalidInputError, UnauthorizedError
from app.db.models import ForgeDelivery, ForgeReport
from app.forges.deliveries import ReviewStirred, read_delivery
from app.forges.github import GitHub
from app.forges.operator_file import parse_forges
from app.forges.repositories import Members
from app.services.control.cancelling import CancelService
from app.services.forges.inbox import ForgeDeliveryChore, ForgeInbox
from app.services.forges.issues import IssueService
from app.services.forges.wishes import WishService
from app.services.record.outbox import Outbox
from tests.forge_double import SECRET, GitHubDouble, github_double, signed
from tests.git_http import TOKEN, fixed_token
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio

REPO = "acme/widgets"
FILE = """
[credentials.acme]
env = "TOKEN"
[forges.github]
credential = "acme"
webhook_secret = { env = "SECRET" }
[[repositories]]
name = "acme/widgets"
forge = "github"
rules = { labels = ["go"], commands = true }
"""


@dataclass
class Scene:
    """Services and a double of the forge."""

    parts: UseCases
    forge: GitHubDouble
    inbox: ForgeInbox
    chore: ForgeDeliveryChore

    async def deliver(self, payload: Any, event: str, delivery: str | None = None) -> str:
        """Take a delivery and work it; gives what became of it."""
        request = signed(payload, event, delivery=delivery)
        await self.inbox.take(request.headers, request.content)
        await self.chore()
        async with self.parts.sessions() as session:
            newest = select(ForgeDelivery).order_by(ForgeDelivery.received_at.desc()).limit(1)
            row = (await session.scalars(newest)).one()
            return f"{row.status}: {row.result}"

    async def run_for(self, issue: int | None, pull: int | None = None) -> UUID:
        """A run on the repository, without its work."""
        run_id = await self.parts.rows.run()
        async with self.parts.sessions.begin() as session:
            session.add(
                ForgeReport(
                    run_id=run_id, forge="github", repository=REPO, issue=issue, pull_number=pull, wanted=0
                )
            )
        return run_id

    async def report(self, run_id: UUID) -> ForgeReport:
        """The run's place on the forge."""
        async with self.parts.sessions() as session:
            return await session.get_one(ForgeReport, run_id)


@asynccontextmanager
async def scene(database_url: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    file = parse_forges(FILE, "forges.toml")
    members = Members(file)
    with github_double(REPO, "https://github.com", tmp_path) as double:
        async with use_cases(database_url, tmp_path) as parts:
            forges = {"github": GitHub(httpx.AsyncClient, double.url, fixed_token(TOKEN))}
            cancels = CancelService(parts.sessions, parts.bell, Outbox(forges=True))
            issues = IssueService(parts.sprints, members, forges)
            wishes = WishService(parts.sessions, members, forges, issues, parts.escalations, cancels)
            inbox = ForgeInbox(parts.sessions, file, Credentials(environ={"SECRET": SECRET}))
            double.add_issue(7, "Round up", "")
            yield Scene(parts, double, inbox, ForgeDeliveryChore(parts.sessions, wishes))


async def test_deliveries(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as here:
        await check_signatures(here)
        await check_repetitions(here)
        await check_large_ones(here)
        await check_rules(here)
        await check_commands(here)
        await check_outcomes(here)


async def check_signatures(here: Scene) -> None:
    for request in (signed({}, "ping", secret="wrong"), signed({}, "ping", secret=TOKEN)):
        with pytest.raises(UnauthorizedError):
            await here.inbox.take(request.headers, request.content)
    good = signed({}, "ping")
    with pytest.raises(UnauthorizedError):
        await here.inbox.take(good.headers, good.content + b" ")
    for bad in (signed([], "ping"), signed({}, "ping", delivery=" " * 300)):
        with pytest.raises(InvalidInputError):
            await here.inbox.take(bad.headers, bad.content)


async def check_repetitions(here: Scene) -> None:
    """The same delivery, the same body under another id, and both at once: one is recorded."""
    delivery = str(uuid4())
    same = [signed({"zen": "once"}, "ping", delivery=delivery) for _ in range(3)]
    replayed = signed({"zen": "once"}, "ping")
    taken = await at_once(*(here.inbox.take(each.headers, each.content) for each in [*same, replayed]))
    assert sorted(each.status for each in taken) == ["recorded", "repeated", "repeated", "repeated"]


async def check_large_ones(here: Scene) -> None:
    """A delivery of GitHub's greatest size: its signature comes first, and only what is read is kept."""
    commits = [{"message": "This reverts commit 1a2b", "added": ["a" * 1_000]}] * 24_000
    payload = {"repository": {"full_name": REPO}, "ref": "refs/heads/main", "commits": commits}
    request = signed(payload, "push")
    assert 20_000_000 < len(request.content) < 26_214_400
    broken = signed(payload, "push", secret="wrong")
    with pytest.raises(UnauthorizedError):  # although it is no JSON, either
        await here.inbox.take(broken.headers, bytearray(broken.content[:-1]))
    # Others are served while it is read.
    small = signed({"zen": "meanwhile"}, "ping")
    taken = await at_once(
        here.inbox.take(request.headers, bytearray(request.content)),
        here.inbox.take(small.headers, small.content),
    )
    assert [each.status for each in taken] == ["recorded", "recorded"]
    async with here.parts.sessions() as session:
        kept = select(ForgeDelivery.payload).where(ForgeDelivery.event == "push")
        (found,) = list(await session.scalars(kept))
    assert len(found["commits"]) == 1
    assert isinstance(read_delivery("push", found), ReviewStirred)
    assert (await here.inbox.take(request.headers, request.content)).status == "repeated"


async def check_rules(here: Scene) -> None:
    labeled = here.forge.labeled
    assert "the label 'other' starts nothing" in await here.deliver(labeled(7, "other"), "issues")
    assert here.forge.comments_of(7) == [], "a label of another meaning is no request"
    assert "eve may not write" in await here.deliver(labeled(7, "go", "eve"), "issues")
    assert "did not do this: eve may not write to acme/widgets" in here.forge.comments_of(7)[0]
    elsewhere = labeled(7, "go") | {"repository": {"full_name": "acme/else"}}
    assert "acme/else is not in FORGES_FILE" in await here.deliver(elsewhere, "issues")
    old = labeled(7, "go")
    old["issue"] = old["issue"] | {"updated_at": "2020-01-01T00:00:00Z"}
    assert "too long ago" in await here.deliver(old, "issues")
    # The source cannot be reached: the same comment says so.
    assert (await here.deliver(labeled(7, "go"), "issues")).startswith("ignored: ")
    (comment,) = here.forge.comments_of(7)
    assert "did not do this" in comment
    assert "eve" not in comment


async def check_commands(here: Scene) -> None:
    said = here.forge.commented

    def answer() -> str:
        (found,) = [each for each in here.forge.comments_of(7) if each.startswith("<!--")]
        return found

    assert "no run works on this" in await here.deliver(said(7, "/phaserunner stop a"), "issue_comment")
    assert "no run works on this" in answer()
    on_pull = said(7, "/phaserunner run")
    on_pull["issue"] = on_pull["issue"] | {"pull_request": {}}
    assert "a run starts from an issue" in await here.deliver(on_pull, "issue_comment")
    run_id = await here.run_for(7)
    started = await here.deliver(said(7, "/phaserunner run"), "issue_comment")
    assert f"the run {run_id} works on this issue already" in started
    assert f"the run {run_id} works" in answer()
    assert "no run waits" in await here.deliver(said(7, "/phaserunner retry"), "issue_comment")
    assert "no run waits" in answer()
    assert "eve may not" in await here.deliver(said(7, "/phaserunner stop", "eve"), "issue_comment")
    assert "eve may not" in answer()
    stopped = await here.deliver(said(7, "/phaserunner stop not now"), "issue_comment")
    assert stopped == f"done: stopped the run {run_id}"
    run = await here.parts.rows.get(run_id)
    assert (run.status, run.status_reason) == ("cancelled", "not now")
    report = await here.report(run_id)
    assert report.wanted > report.reported


async def check_outcomes(here: Scene) -> None:
    """Deliveries come late and in any order: the newest word counts."""
    run_id = await here.run_for(None, pull=9)
    at = datetime.now(UTC)

    def changed(action: str, minutes: int, *, merged: bool = False) -> dict[str, Any]:
        when = (at + timedelta(minutes=minutes)).isoformat()
        pull = {"number": 9, "merged": merged, "updated_at": when}
        who = {"repository": {"full_name": REPO}, "sender": {"login": "ada"}}
        return {"action": action, "pull_request": pull, **who}

    assert "is closed" in await here.deliver(changed("closed", 1), "pull_request")
    assert "is merged" in await here.deliver(changed("closed", 3, merged=True), "pull_request")
    assert "newer is known" in await here.deliver(changed("reopened", 2), "pull_request")
    report = await here.report(run_id)
    assert (report.outcome, report.outcome_by) == ("merged", "ada")
    async with here.parts.sessions.begin() as session:
        await session.execute(
            update(ForgeReport).where(ForgeReport.run_id == run_id).values(pull_number=None)
        )
    assert "not of a run" in await here.deliver(changed("closed", 5), "pull_request")
