"""Reads the review of a pull request from GitHub."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

import anyio
from typing_extensions import override

from app.forges.deliveries import command_in
from app.forges.github import ADVICE, GITHUB, STATUS_CONTEXT, GitHub
from app.forges.github_json import pull_of
from app.forges.job_logs import failing_part
from app.forges.port import ForgeError, writers_among
from app.forges.rest import OpenClient, ReadToken, RestApi
from app.forges.reviews import (
    CheckReport,
    PullFacts,
    RemarkAtLine,
    Request,
    Review,
    ReviewedPull,
    ReviewForge,
)

_MAX_LOG_BYTES = 4_000_000
_MAX_ANNOTATIONS = 20
_FAILED = frozenset({"failure", "timed_out", "startup_failure"})
_ACTIONS = "github-actions"
_MERGEABLE_LOOKS = 4
_MERGEABLE_SECONDS = 1.5


class GitHubReviews(ReviewForge):
    """Reads reviews, comments at lines and checks.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request.
        forge: the adapter of the same forge, which tells who may write.
    """

    def __init__(self, open_client: OpenClient, api: str, token: ReadToken, forge: GitHub) -> None:
        self._api = RestApi(GITHUB, open_client, api, token)
        self._forge = forge

    @override
    async def facts(self, repository: str, number: int) -> PullFacts:
        pull = await self.pull(repository, number)
        if pull.pull.state == "closed":
            return PullFacts(pull=pull)
        reviews = [
            _review(each) for each in await self._api.every(f"/repos/{repository}/pulls/{number}/reviews")
        ]
        remarks = [
            _remark(each) for each in await self._api.every(f"/repos/{repository}/pulls/{number}/comments")
        ]
        comments = await self._api.every(f"/repos/{repository}/issues/{number}/comments")
        requests = [each for comment in comments if (each := _request(comment))]
        failing = await self._failing(repository, pull.target_head)
        users = {each.user for each in (*reviews, *remarks, *requests)}
        return PullFacts(
            pull=pull,
            reviews=reviews,
            remarks=remarks,
            requests=requests,
            checks=await self._checks(repository, pull.head, failing),
            failing_at_target=failing,
            writers=await writers_among(self._forge, repository, users),
        )

    @override
    async def merge_base(self, repository: str, target: str, head: str) -> str:
        found = await self._api.call("GET", f"/repos/{repository}/compare/{target}...{head}")
        return str(found["merge_base_commit"]["sha"])

    @override
    async def pull(self, repository: str, number: int) -> ReviewedPull:
        # GitHub computes `mergeable` only after the first request for it.
        found: dict[str, Any] = {}
        for look in range(_MERGEABLE_LOOKS):
            if look:
                await anyio.sleep(_MERGEABLE_SECONDS)
            found = await self._api.call("GET", f"/repos/{repository}/pulls/{number}")
            if found["state"] == "closed" or found.get("mergeable") is not None:
                break
        target = str(found["base"]["ref"])
        return ReviewedPull(
            pull=pull_of(found),
            head=found["head"]["sha"],
            branch=found["head"]["ref"],
            target=target,
            target_head=await self._head(repository, target),
            mergeable=found.get("mergeable"),
        )

    async def _head(self, repository: str, branch: str) -> str:
        found = await self._api.call("GET", f"/repos/{repository}/branches/{quote(branch, safe='')}")
        return str(found["commit"]["sha"])

    async def _failing(self, repository: str, commit: str) -> frozenset[str]:
        runs, statuses = await self._check_runs(repository, commit), await self._statuses(repository, commit)
        failed = [each["name"] for each in runs if each.get("conclusion") in _FAILED]
        return frozenset([*failed, *(each.name for each in statuses if each.state == "failed")])

    async def _checks(self, repository: str, commit: str, known: frozenset[str]) -> Sequence[CheckReport]:
        found: list[CheckReport] = []
        for each in await self._check_runs(repository, commit):
            name, state = str(each["name"]), _state(each)
            told = state == "failed" and name not in known
            found.append(CheckReport(name, state, await self._excerpt(repository, each) if told else ""))
        return [*found, *await self._statuses(repository, commit)]

    async def _check_runs(self, repository: str, commit: str) -> list[dict[str, Any]]:
        every = await self._api.every(f"/repos/{repository}/commits/{commit}/check-runs", within="check_runs")
        return [each for each in every if each["name"] not in (STATUS_CONTEXT, ADVICE)]

    async def _statuses(self, repository: str, commit: str) -> list[CheckReport]:
        states: Mapping[str, Literal["pending", "passed"]] = {"pending": "pending", "success": "passed"}
        every = await self._api.every(f"/repos/{repository}/commits/{commit}/status", within="statuses")
        return [
            CheckReport(each["context"], states.get(each["state"], "failed"), each.get("description") or "")
            for each in every
            if each["context"] != STATUS_CONTEXT
        ]

    async def _excerpt(self, repository: str, check: Mapping[str, Any]) -> str:
        """Return why a check failed: its job's log, or else its own text with its annotations."""
        app: Mapping[str, Any] = check.get("app") or {}
        if app.get("slug") == _ACTIONS:
            path = f"/repos/{repository}/actions/jobs/{check['id']}/logs"
            try:
                return failing_part(await self._api.text(path, _MAX_LOG_BYTES))
            except ForgeError:
                pass  # logs expire, or the token may not read them; the check's own text is still available
        output: Mapping[str, Any] = check.get("output") or {}
        said = [output.get("title") or "", output.get("summary") or "", output.get("text") or ""]
        if output.get("annotations_count"):
            path = f"/repos/{repository}/check-runs/{check['id']}/annotations"
            said += [_annotation(each) for each in (await self._api.every(path))[:_MAX_ANNOTATIONS]]
        return "\n".join(each for each in said if each)


def _state(check: Mapping[str, Any]) -> Literal["pending", "passed", "failed"]:
    if check["status"] != "completed":
        return "pending"
    return "failed" if check.get("conclusion") in _FAILED else "passed"


def _review(found: Mapping[str, Any]) -> Review:
    states: Mapping[str, Literal["approved", "changes_requested", "dismissed", "pending"]] = {
        "APPROVED": "approved",
        "CHANGES_REQUESTED": "changes_requested",
        "DISMISSED": "dismissed",
        "PENDING": "pending",
    }
    at = found.get("submitted_at")
    return Review(
        id=found["id"],
        user=_login(found),
        state=states.get(found["state"], "commented"),
        body=found.get("body") or "",
        at=datetime.fromisoformat(at) if at else None,
    )


def _remark(found: Mapping[str, Any]) -> RemarkAtLine:
    return RemarkAtLine(found["id"], _login(found), found["path"], found.get("line"), found.get("body") or "")


def _request(found: Mapping[str, Any]) -> Request | None:
    command = command_in(found.get("body") or "")
    return Request(found["id"], _login(found), command[1]) if command and command[0] == "retry" else None


def _login(found: Mapping[str, Any]) -> str:
    user: Mapping[str, Any] = found.get("user") or {}  # None if the account was deleted
    return str(user.get("login", ""))


def _annotation(found: Mapping[str, Any]) -> str:
    return f"{found.get('path')}:{found.get('start_line')}: {found.get('message')}"
