"""Polls find what no webhook tells of, and what one tells of as well is done once."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, update

from app.db.models import ForgeDelivery, ForgePoll
from app.forges.github_polling import GitHubPolling
from app.forges.operator_file import parse_forges
from app.forges.repositories import Members
from app.services.forges.polls import PollChore
from tests.forge_double import Fault, signed
from tests.git_http import TOKEN, fixed_token
from tests.integration.services.support import at_once
from tests.integration.services.test_forges import FILE, Scene, scene

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def polled(database_url: str, tmp_path: Path) -> AsyncGenerator[tuple[Scene, PollChore]]:
    text = FILE.replace("commands = true", "commands = true, poll_minutes = 5")
    members = Members(parse_forges(text, "forges.toml"))
    async with scene(database_url, tmp_path) as here:
        forge = GitHubPolling(httpx.AsyncClient, here.forge.url, fixed_token(TOKEN))
        yield here, PollChore(here.parts.sessions, members, {"github": forge})


async def due(here: Scene) -> None:
    """Let the next poll be due."""
    async with here.parts.sessions.begin() as session:
        await session.execute(update(ForgePoll).values(next_at=datetime.now(UTC) - timedelta(seconds=1)))


async def deliveries(here: Scene) -> list[ForgeDelivery]:
    async with here.parts.sessions() as session:
        found = select(ForgeDelivery).order_by(ForgeDelivery.received_at)
        return list(await session.scalars(found))


async def poll_of(here: Scene) -> ForgePoll:
    async with here.parts.sessions() as session:
        return (await session.scalars(select(ForgePoll))).one()


async def test_labels_and_commands_are_found_once(database_url: str, tmp_path: Path) -> None:
    async with polled(database_url, tmp_path) as (here, poll):
        assert await poll() == 1
        first = await poll_of(here)
        assert first.next_at > datetime.now(UTC) + timedelta(minutes=3)
        assert await poll() == 0, "it is not due"
        here.forge.labeled(7, "go")
        here.forge.labeled(7, "other")
        here.forge.commented(7, "/phaserunner stop now")
        here.forge.commented(7, "Thanks!")
        for _ in range(2):  # the newest are read again
            await due(here)
            assert await poll() == 1
        found = await deliveries(here)
        assert sorted(each.asks or "" for each in found) == [
            "",
            "comment:acme/widgets:1000",
            "label:acme/widgets#7:go:ada",
        ]
        assert (await poll_of(here)).since > first.since
        await here.chore()
        done = {each.asks: each.result for each in await deliveries(here)}
        assert done["comment:acme/widgets:1000"] == "no run works on this"
        assert "did not do this" in here.forge.comments_of(7)[-1], "the label asked for a run"


async def test_a_quiet_repository_is_not_read_from_its_last_label_on(
    database_url: str, tmp_path: Path
) -> None:
    async with polled(database_url, tmp_path) as (here, poll):
        await poll()
        async with here.parts.sessions.begin() as session:
            await session.execute(update(ForgePoll).values(since=datetime.now(UTC) - timedelta(days=90)))
        await due(here)
        await poll()
        assert (await poll_of(here)).since > datetime.now(UTC) - timedelta(days=1)
        here.forge.labeled(7, "go")
        await due(here)
        await poll()
        assert [each.asks for each in await deliveries(here)] == ["label:acme/widgets#7:go:ada"]


async def test_a_webhook_and_a_poll_of_the_same_are_one(database_url: str, tmp_path: Path) -> None:
    async with polled(database_url, tmp_path) as (here, poll):
        labeled = signed(here.forge.labeled(7, "go"), "issues")
        said = signed(here.forge.commented(7, "/phaserunner stop"), "issue_comment")
        taken = await here.inbox.take(labeled.headers, labeled.content)
        assert taken.status == "recorded"
        await poll()
        assert (await here.inbox.take(said.headers, said.content)).status == "repeated", "the poll was first"
        assert len(await deliveries(here)) == 2
        again = signed(here.forge.commented(7, "/phaserunner stop"), "issue_comment")
        await due(here)
        await at_once(poll(), here.inbox.take(again.headers, again.content))
        assert len(await deliveries(here)) == 3
        # A label that comes again later asks again.
        later = here.forge.labeled(7, "go")
        at = datetime.now(UTC) + timedelta(minutes=2)
        later["issue"] = later["issue"] | {"updated_at": at.isoformat()}
        repeated = signed(later, "issues")
        assert (await here.inbox.take(repeated.headers, repeated.content)).status == "recorded"


async def test_a_forge_that_is_away_loses_nothing(database_url: str, tmp_path: Path) -> None:
    async with polled(database_url, tmp_path) as (here, poll):
        here.forge.labeled(7, "go")
        reset = int((datetime.now(UTC) + timedelta(hours=1)).timestamp())
        limited = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
        here.forge.faults += [
            Fault("GET", "/issues/events$", 500),
            Fault("GET", "/issues/comments$", 403, limited),
        ]
        await poll()
        away = await poll_of(here)
        assert "gave 500" in away.last_error
        await due(here)
        await poll()
        assert int((await poll_of(here)).next_at.timestamp()) == reset
        assert await deliveries(here) == []
        await due(here)
        await poll()
        row = await poll_of(here)
        assert (row.last_error, row.tries) == ("", 0)
        assert [each.asks for each in await deliveries(here)] == ["label:acme/widgets#7:go:ada"]


async def test_edited_comments_and_those_of_before_are_no_commands(database_url: str, tmp_path: Path) -> None:
    async with polled(database_url, tmp_path) as (here, poll):
        here.forge.commented(7, "/phaserunner stop")
        old = datetime.now(UTC) - timedelta(hours=1)
        here.forge.comments[1000]["created_at"] = old.strftime("%Y-%m-%dT%H:%M:%SZ")
        await poll()
        assert await deliveries(here) == []
