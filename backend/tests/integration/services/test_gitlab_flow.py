"""GitLab from an issue to the merge, with real git: one merge request, one comment, a status, the outcome."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from typing_extensions import override

from app.core.credentials import Credentials
from app.db.models import ForgeReport
from app.forges.gitlab import GitLab
from app.forges.operator_file import credentials_of, parse_forges
from app.forges.port import ForgesByName
from app.forges.repositories import Members
from app.services.forges.inbox import ForgeInbox
from app.workspaces.sources.inspection import SourcePolicy
from tests.git_http import TOKEN, fixed_token, run_git, serving_git
from tests.gitlab_double import GitLabDouble, gitlab_double
from tests.integration.services.support import make_repository, use_cases
from tests.integration.services.test_forge_interleavings import FILE, Worker

pytestmark = pytest.mark.anyio

PROJECT = "acme/widgets"


@dataclass
class Lab(Worker):
    """A server with GitLab, and a service."""

    forge: GitLabDouble
    bare: Path
    delivered: int = 0

    @override
    def forges(self) -> ForgesByName:
        return {
            "github": GitLab(partial(httpx.AsyncClient, timeout=30.0), self.forge.url, fixed_token(TOKEN))
        }

    async def deliver(self, event: str, payload: dict[str, Any]) -> None:
        """Take a delivery, and work it."""
        self.delivered += 1
        headers = {
            "x-gitlab-token": "s3cret",
            "x-gitlab-event": event,
            "idempotency-key": f"{self.delivered}",
        }
        inbox = ForgeInbox(self.parts.sessions, self.members.file, Credentials(environ={"SECRET": "s3cret"}))
        body = httpx.Request("POST", "http://x", json=payload).content
        assert (await inbox.take_gitlab(headers, body)).status == "recorded"
        await self.make_due()
        await self.deliveries()()

    async def report(self) -> ForgeReport:
        """Report to the forge; give what is known of the run there."""
        await self.make_due()
        await self.reports()()
        async with self.parts.sessions() as session:
            return (await session.scalars(select(ForgeReport))).one()


@asynccontextmanager
async def lab(database_url: str, place: Path) -> AsyncGenerator[Lab]:
    project = make_repository(place / "project")
    (place / "data").mkdir()
    with serving_git(place / "served") as server, gitlab_double(PROJECT) as double:
        bare = server.create(PROJECT, project)
        text = FILE.format(web=server.url).replace("[forges.github]", '[forges.github]\nkind = "gitlab"')
        members = Members(parse_forges(text, "forges.toml"))
        known = credentials_of(members.file, {"TOKEN": TOKEN})
        sources = SourcePolicy(allow_private_urls=True, credentials=known)
        double.add_issue(7, "Add b")
        async with use_cases(database_url, place / "data", sources) as parts:
            yield Lab(parts, members, sources, double, bare)


def told(**attributes: Any) -> dict[str, Any]:
    """What every delivery says."""
    at = datetime.now(UTC).isoformat()
    return {
        "user": {"username": "ada"},
        "project": {"path_with_namespace": PROJECT},
        "object_attributes": {"state": "opened", "updated_at": at, "created_at": at, **attributes},
    }


async def test_from_an_issue_to_the_merge(database_url: str, tmp_path: Path) -> None:
    async with lab(database_url, tmp_path) as here:
        labels = {"previous": [], "current": [{"title": "go"}]}
        await here.deliver("Issue Hook", told(iid=7) | {"changes": {"labels": labels}})
        assert len(await here.runs()) == 1
        await here.report()
        (note,) = here.forge.notes.values()
        assert (note["noteable_type"], note["noteable_iid"]) == ("Issue", 7)
        assert "The run has started." in note["body"]
        await here.finish()
        offered = await here.report()
        (merge,) = here.forge.merges.values()
        assert (merge["source_branch"], merge["target_branch"], merge["draft"]) == (
            offered.branch,
            "main",
            False,
        )
        assert "Closes #7" in merge["description"]
        assert "| b.py | 1 | 0 |" in merge["description"]
        assert list(here.forge.notes.values()) == [note], "one comment, whose text is replaced"
        assert merge["web_url"] in note["body"]
        pushed = run_git(here.bare, "rev-parse", f"refs/heads/{offered.branch}")
        assert [(each["sha"], each["state"]) for each in here.forge.statuses] == [(pushed, "success")]
        assert run_git(here.bare, "show", f"{pushed}:b.py") == "y = 1"
        said = told(id=31, note="/phaserunner stop", noteable_type="MergeRequest")
        await here.deliver("Note Hook", said | {"merge_request": {"iid": 1}})
        answer = list(here.forge.notes.values())[-1]
        assert (answer["noteable_type"], answer["noteable_iid"]) == ("MergeRequest", 1)
        assert "no run works on this" in answer["body"]
        await here.deliver("Merge Request Hook", told(iid=1, action="merge"))
        ended = await here.report()
        assert (ended.outcome, ended.outcome_by, ended.pull_number) == ("merged", "ada", 1)
        assert len(here.forge.merges) == 1
