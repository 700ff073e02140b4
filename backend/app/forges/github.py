"""The GitHub adapter: its REST interface, and GraphQL for the one thing that REST lacks."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx
from typing_extensions import override

from app.forges.github_json import annotation_for, author_of, commit_of, issue_of, pull_of
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

STATUS_CONTEXT = "phaserunner"

_MAX_PAGES = 20
_MAX_COMMIT_PAGES = 50
"""Pages of 100 commits: what busy teams push in the 30 days in which a merge may be reverted."""

_MAX_DESCRIPTION = 140
_WRITERS = frozenset({"admin", "write", "maintain"})
ADVICE = f"{STATUS_CONTEXT} advice"
"""Name of the check run with the advisers' notes."""

_LIMIT_PAUSE = timedelta(minutes=2)
_MAX_ANNOTATIONS = 50
"""The most annotations that GitHub accepts in one request."""

_CONCLUSIONS = {"success": "success", "failure": "failure", "error": "action_required", "pending": "neutral"}
_READY = (
    "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) "
    "{ pullRequest { isDraft } } }"
)


class GitHub(Forge):
    """GitHub, or a GitHub Enterprise Server.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request, so that a rotated token takes effect at once.
        as_app: whether the token belongs to a GitHub App, which may write check runs.
    """

    def __init__(self, open_client: OpenClient, api: str, token: ReadToken, *, as_app: bool = False) -> None:
        self._as_app = as_app
        self._api = RestApi(GITHUB, open_client, api, token)
        self._graphql_url = f"{api.rstrip('/').removesuffix('/v3')}/graphql"
        self._login: str | None = None

    @override
    async def login(self) -> str:
        if self._login is None:
            # An App may not read `/user`, but GraphQL knows it as `NAME[bot]`.
            body = {"query": "query { viewer { login } }"}
            self._login = str((await self._graphql(body))["viewer"]["login"])
        return self._login

    @override
    async def issue(self, repository: str, number: int) -> Issue:
        return issue_of(await self._api.call("GET", f"/repos/{repository}/issues/{number}"))

    @override
    async def issues(self, repository: str, labels: Sequence[str]) -> AsyncGenerator[Sequence[Issue]]:
        query = {"state": "open", "sort": "created", "direction": "asc"}
        if labels:
            query["labels"] = ",".join(labels)
        async for part in self._api.pages(f"/repos/{repository}/issues", query, most=_MAX_PAGES):
            # GitHub lists pull requests among the issues.
            yield [issue_of(each) for each in part if "pull_request" not in each]

    @override
    async def default_branch(self, repository: str) -> str:
        return str((await self._api.call("GET", f"/repos/{repository}"))["default_branch"])

    @override
    async def may_write(self, repository: str, user: str) -> bool:
        path = f"/repos/{repository}/collaborators/{quote(user, safe='')}/permission"
        found = await self._api.call("GET", path, missing_ok=True)
        return found is not None and found.get("permission") in _WRITERS

    @override
    async def find_pull(self, repository: str, branch: str) -> PullRequest | None:
        owner = repository.partition("/")[0]
        query = {"head": f"{owner}:{branch}", "state": "all", "sort": "created", "direction": "desc"}
        found = await self._api.call("GET", f"/repos/{repository}/pulls", query=query)
        return pull_of(found[0]) if found else None

    @override
    async def open_pull(self, repository: str, new: NewPullRequest) -> PullRequest:
        # An earlier request may have succeeded before a crash kept its result from being recorded.
        if before := await self.find_pull(repository, new.head):
            return before
        body = {
            "title": new.title,
            "body": new.body,
            "head": new.head,
            "base": new.base,
            "draft": new.draft,
        }
        try:
            return pull_of(await self._api.call("POST", f"/repos/{repository}/pulls", body=body))
        except ForgeError as error:
            if error.permanent and (before := await self.find_pull(repository, new.head)):
                return before
            raise

    @override
    async def update_pull(self, repository: str, number: int, body: str) -> None:
        await self._api.call("PATCH", f"/repos/{repository}/pulls/{number}", body={"body": body})

    @override
    async def mark_ready(self, pull: PullRequest) -> None:
        await self._graphql({"query": _READY, "variables": {"id": pull.node_id}})

    @override
    async def merged(self, repository: str, number: int) -> MergedPull | None:
        found = await self._api.call("GET", f"/repos/{repository}/pulls/{number}")
        if found.get("merged_at") is None or not found.get("merge_commit_sha"):
            return None
        return MergedPull(
            number=number,
            commit=found["merge_commit_sha"],
            head=found["head"]["sha"],
            commits=found["commits"],
            target=found["base"]["ref"],
            at=datetime.fromisoformat(found["merged_at"]),
        )

    @override
    async def commits_since(self, repository: str, branch: str, at: datetime) -> Sequence[Commit]:
        query = {"sha": branch, "since": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        found = await self._api.every(f"/repos/{repository}/commits", query, most=_MAX_COMMIT_PAGES)
        return [commit_of(each) for each in found]

    @override
    async def set_status(self, repository: str, commit: str, status: CommitStatus) -> None:
        if self._as_app:
            await self._check_run(repository, commit, status, STATUS_CONTEXT, _CONCLUSIONS[status.state])
            if any(not each.blocks for each in status.annotations):
                # Advice is neutral, so that it never marks a commit as failed.
                await self._check_run(repository, commit, status, ADVICE, "neutral")
            return
        body = {
            "state": status.state,
            "context": STATUS_CONTEXT,
            "description": status.description[:_MAX_DESCRIPTION],
            **({"target_url": status.url} if status.url else {}),
        }
        await self._api.call("POST", f"/repos/{repository}/statuses/{commit}", body=body)

    async def _check_run(
        self, repository: str, commit: str, status: CommitStatus, name: str, conclusion: str
    ) -> None:
        """Create the commit's check run with this name, or replace it."""
        shown = [each for each in status.annotations if each.blocks == (name == STATUS_CONTEXT)]
        body = {
            "name": name,
            "head_sha": commit,
            "status": "completed",
            "conclusion": conclusion,
            "output": {
                "title": status.description if name == STATUS_CONTEXT else f"{len(shown)} notes of advisers",
                "summary": status.description,
                "annotations": [annotation_for(each) for each in shown[:_MAX_ANNOTATIONS]],
            },
            **({"details_url": status.url} if status.url else {}),
        }
        query = {"check_name": name, "filter": "latest"}
        path = f"/repos/{repository}/commits/{commit}/check-runs"
        known = (await self._api.call("GET", path, query=query))["check_runs"]
        if known:
            await self._api.call("PATCH", f"/repos/{repository}/check-runs/{known[0]['id']}", body=body)
        else:
            await self._api.call("POST", f"/repos/{repository}/check-runs", body=body)

    @override
    async def put_comment(
        self, repository: str, issue: int, marker: str, body: str, known: int | None, *, on_pull: bool = False
    ) -> int:
        # GitHub numbers issues and pull requests together.
        comment = known or await self._find_comment(repository, issue, marker)
        if comment is not None:
            path = f"/repos/{repository}/issues/comments/{comment}"
            if await self._api.call("PATCH", path, body={"body": body}, missing_ok=True) is not None:
                return comment
        made = await self._api.call(
            "POST", f"/repos/{repository}/issues/{issue}/comments", body={"body": body}
        )
        return int(made["id"])

    async def _graphql(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = await self._api.call("POST", self._graphql_url, body=body)
        if answer.get("errors"):
            raise ForgeError(f"GitHub refuses a query: {answer['errors'][0].get('message')}")
        return cast("Mapping[str, Any]", answer["data"])

    async def _find_comment(self, repository: str, issue: int, marker: str) -> int | None:
        own = await self.login()
        comments = f"/repos/{repository}/issues/{issue}/comments"
        async for part in self._api.pages(comments, most=_MAX_PAGES):
            for each in part:
                # In another person's comment, the marker is only a quotation.
                if marker in (each.get("body") or "") and author_of(each) == own:
                    return int(each["id"])
        return None


def _retry_at(response: httpx.Response) -> datetime | None:
    """Return when a rate limit ends; None if the failure is of another kind."""
    if response.status_code not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
        return None
    after, reset = response.headers.get("retry-after", ""), response.headers.get("x-ratelimit-reset", "")
    if after.isdecimal() and len(after) < 7:
        return datetime.now(UTC) + timedelta(seconds=int(after))
    if response.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal() and len(reset) < 12:
        return datetime.fromtimestamp(int(reset), UTC)
    if "secondary rate limit" in response.text.lower():
        # GitHub names no end then, and asks for a minute at least.
        return datetime.now(UTC) + _LIMIT_PAUSE
    return None


def _message(document: Mapping[str, Any]) -> str:
    errors = cast("list[object]", document.get("errors") or [])
    dicts = [cast("dict[str, object]", each) for each in errors if isinstance(each, dict)]
    details = [str(each.get("message") or each) for each in dicts]
    return ": ".join([str(document.get("message", "")), *details])


GITHUB = ForgeDialect(
    "GitHub",
    frozenset({HTTPStatus.CONFLICT, HTTPStatus.GONE, HTTPStatus.UNPROCESSABLE_ENTITY}),
    _retry_at,
    _message,
    {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
)
