"""The GitLab adapter: its REST interface, version 4."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx
from typing_extensions import override

from app.forges.port import (
    Commit,
    CommitStatus,
    Forge,
    ForgeError,
    Issue,
    MergedPull,
    NewPullRequest,
    PullRequest,
)
from app.forges.rest import ForgeDialect, OpenClient, ReadToken, RestApi

STATUS_NAME = "phaserunner"

_MAX_PAGES = 20
_MAX_COMMIT_PAGES = 50
"""Pages of 100 commits: what busy teams push in the 30 days in which a merge may be reverted."""

_MAX_DESCRIPTION = 140
_DEVELOPER = 30
"""The lowest access level that may push."""

_PAUSE_SECONDS = 60
_DRAFT = "Draft: "
_STATES = {"pending": "pending", "success": "success", "failure": "failed", "error": "failed"}


class GitLab(Forge):
    """GitLab.com or another GitLab server. Pull requests are merge requests.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request, so that a rotated token takes effect at once.
    """

    def __init__(self, open_client: OpenClient, api: str, token: ReadToken) -> None:
        self._api = RestApi(GITLAB, open_client, api, token)
        self._login: str | None = None

    @override
    async def login(self) -> str:
        if self._login is None:
            self._login = str((await self._api.call("GET", "/user"))["username"])
        return self._login

    @override
    async def issue(self, repository: str, number: int) -> Issue:
        return _issue(await self._api.call("GET", f"{project_path(repository)}/issues/{number}"))

    @override
    async def issues(self, repository: str, labels: Sequence[str]) -> AsyncGenerator[Sequence[Issue]]:
        query = {"state": "opened", "order_by": "created_at", "sort": "asc"}
        if labels:
            query["labels"] = ",".join(labels)
        async for part in self._api.pages(f"{project_path(repository)}/issues", query, most=_MAX_PAGES):
            yield [_issue(each) for each in part]

    @override
    async def default_branch(self, repository: str) -> str:
        return str((await self._api.call("GET", project_path(repository)))["default_branch"])

    @override
    async def may_write(self, repository: str, user: str) -> bool:
        found: list[dict[str, Any]] = await self._api.call("GET", "/users", query={"username": user})
        if not found:
            return False
        path = f"{project_path(repository)}/members/all/{found[0]['id']}"
        member = await self._api.call("GET", path, missing_ok=True)
        return member is not None and int(member.get("access_level", 0)) >= _DEVELOPER

    @override
    async def find_pull(self, repository: str, branch: str) -> PullRequest | None:
        query = {"source_branch": branch, "state": "all", "order_by": "created_at", "sort": "desc"}
        async for part in self._api.pages(
            f"{project_path(repository)}/merge_requests", query, most=_MAX_PAGES
        ):
            for each in part:
                # The list also has those of forks, where anyone can create a branch with this name.
                if each["source_project_id"] == each["target_project_id"]:
                    return pull_of(repository, each)
        return None

    @override
    async def open_pull(self, repository: str, new: NewPullRequest) -> PullRequest:
        # An earlier request may have succeeded before a crash kept its result from being recorded.
        if before := await self.find_pull(repository, new.head):
            return before
        body = {
            "title": f"{_DRAFT}{new.title}" if new.draft else new.title,
            "description": new.body,
            "source_branch": new.head,
            "target_branch": new.base,
        }
        try:
            made = await self._api.call("POST", f"{project_path(repository)}/merge_requests", body=body)
        except ForgeError as error:
            if error.permanent and (before := await self.find_pull(repository, new.head)):
                return before
            raise
        return pull_of(repository, made)

    @override
    async def update_pull(self, repository: str, number: int, body: str) -> None:
        path = f"{project_path(repository)}/merge_requests/{number}"
        await self._api.call("PUT", path, body={"description": body})

    @override
    async def mark_ready(self, pull: PullRequest) -> None:
        repository, _, number = pull.node_id.rpartition("!")
        path = f"{project_path(repository)}/merge_requests/{number}"
        title = str((await self._api.call("GET", path))["title"])
        await self._api.call("PUT", path, body={"title": title.removeprefix(_DRAFT)})

    @override
    async def merged(self, repository: str, number: int) -> MergedPull | None:
        path = f"{project_path(repository)}/merge_requests/{number}"
        found = await self._api.call("GET", path)
        if found["state"] != "merged" or not found.get("merged_at"):
            return None
        made = found.get("merge_commit_sha") or found.get("squash_commit_sha")
        commits = 1
        if not made:  # a fast-forward moved the target to the branch
            commits = len(await self._api.every(f"{path}/commits", most=1))
        return MergedPull(
            number=number,
            commit=made or found["sha"],
            head=found["sha"],
            commits=commits,
            target=found["target_branch"],
            at=datetime.fromisoformat(found["merged_at"]),
        )

    @override
    async def commits_since(self, repository: str, branch: str, at: datetime) -> Sequence[Commit]:
        path = f"{project_path(repository)}/repository/commits"
        query = {"ref_name": branch, "since": at.astimezone(UTC).isoformat()}
        return [
            Commit(each["id"], each["message"], datetime.fromisoformat(each["committed_date"]))
            for each in await self._api.every(path, query, most=_MAX_COMMIT_PAGES)
        ]

    @override
    async def set_status(self, repository: str, commit: str, status: CommitStatus) -> None:
        body = {
            "state": _STATES[status.state],
            "name": STATUS_NAME,
            "description": status.description[:_MAX_DESCRIPTION],
            **({"target_url": status.url} if status.url else {}),
        }
        await self._api.call("POST", f"{project_path(repository)}/statuses/{commit}", body=body)

    @override
    async def put_comment(
        self, repository: str, issue: int, marker: str, body: str, known: int | None, *, on_pull: bool = False
    ) -> int:
        notes = f"{project_path(repository)}/{'merge_requests' if on_pull else 'issues'}/{issue}/notes"
        note = known or await self._find_note(notes, marker)
        if note is not None:
            changed = await self._api.call("PUT", f"{notes}/{note}", body={"body": body}, missing_ok=True)
            if changed is not None:
                return note
        return int((await self._api.call("POST", notes, body={"body": body}))["id"])

    async def _find_note(self, notes: str, marker: str) -> int | None:
        own = await self.login()
        async for part in self._api.pages(notes, most=_MAX_PAGES):
            for each in part:
                # In another person's note, the marker is only a quotation.
                if marker in (each.get("body") or "") and each["author"]["username"] == own:
                    return int(each["id"])
        return None


def project_path(repository: str) -> str:
    """Return the path of a project below the API's base URL."""
    return f"/projects/{quote(repository, safe='')}"


def _issue(found: Mapping[str, Any]) -> Issue:
    return Issue(
        number=found["iid"],
        title=found["title"],
        body=found.get("description") or "",
        url=found["web_url"],
        is_open=found["state"] == "opened",
    )


def pull_of(repository: str, found: Mapping[str, Any]) -> PullRequest:
    """Return a merge request as GitLab describes it."""
    ended = found.get("merged_at") or found.get("closed_at")
    return PullRequest(
        number=found["iid"],
        url=found["web_url"],
        state="open" if found["state"] in ("opened", "locked") else "closed",
        draft=bool(found.get("draft")),
        merged=found["state"] == "merged",
        body=found.get("description") or "",
        node_id=f"{repository}!{found['iid']}",
        ended_at=datetime.fromisoformat(ended) if ended else None,
    )


def _retry_at(response: httpx.Response) -> datetime | None:
    if response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    after = response.headers.get("retry-after", "")
    seconds = int(after) if after.isdecimal() and len(after) < 7 else _PAUSE_SECONDS
    return datetime.now(UTC) + timedelta(seconds=seconds)


def _message(document: Mapping[str, Any]) -> str:
    return str(document.get("message") or document.get("error") or document)


GITLAB = ForgeDialect(
    "GitLab",
    frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}),
    _retry_at,
    _message,
)
