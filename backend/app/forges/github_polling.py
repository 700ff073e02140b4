"""Polls GitHub for labels and comments."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from typing_extensions import override

from app.forges.github import GITHUB
from app.forges.polling import MAX_PAGES, PolledEvent, PollForge, warn_of_rest
from app.forges.rest import OpenClient, ReadToken, RestApi


class GitHubPolling(PollForge):
    """Reads events of issues, and comments.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request.
    """

    def __init__(self, open_client: OpenClient, api: str, token: ReadToken) -> None:
        self._api = RestApi(GITHUB, open_client, api, token)

    @override
    async def labeled_since(
        self, repository: str, labels: Collection[str], since: datetime
    ) -> Sequence[PolledEvent]:
        found: list[PolledEvent] = []
        # GitHub returns the newest events first, and has no parameter for a start time.
        cut = partial(warn_of_rest, repository, "events of issues")
        async for part in self._api.pages(f"/repos/{repository}/issues/events", most=MAX_PAGES, cut=cut):
            new = [each for each in part if _time(each["created_at"]) >= since]
            found += [_labeled(repository, each) for each in new if _is_of(each, labels)]
            if len(new) < len(part):
                break
        return found[::-1]

    @override
    async def commented_since(self, repository: str, since: datetime) -> Sequence[PolledEvent]:
        query = {
            "since": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sort": "updated",
            "direction": "asc",
        }
        comments = f"/repos/{repository}/issues/comments"
        cut = partial(warn_of_rest, repository, "comments")
        every = await self._api.every(comments, query, most=MAX_PAGES, cut=cut)
        # The list also has older comments that were edited, but only new ones are commands.
        return [_commented(repository, each) for each in every if _time(each["created_at"]) >= since]


def _is_of(event: Mapping[str, Any], labels: Collection[str]) -> bool:
    # The account, the label and the issue are None if they were deleted.
    label, issue = event.get("label"), event.get("issue")
    if event.get("event") != "labeled" or not (label and issue and event.get("actor")):
        return False
    return label.get("name") in labels and "pull_request" not in issue


def _labeled(repository: str, event: Mapping[str, Any]) -> PolledEvent:
    issue = event["issue"]
    payload = {
        "action": "labeled",
        "issue": {"number": issue["number"], "state": issue["state"], "updated_at": event["created_at"]},
        "label": {"name": event["label"]["name"]},
        "repository": {"full_name": repository},
        "sender": {"login": event["actor"]["login"]},
    }
    return PolledEvent("issues", payload, _time(event["created_at"]))


def _commented(repository: str, comment: Mapping[str, Any]) -> PolledEvent:
    issue: dict[str, Any] = {
        "number": int(str(comment["issue_url"]).rpartition("/")[2]),
        "updated_at": comment["created_at"],
    }
    if "/pull/" in comment["html_url"]:
        issue["pull_request"] = {}
    shown = {name: comment[name] for name in ("id", "body", "user", "created_at")}
    payload = {
        "action": "created",
        "issue": issue,
        "comment": shown,
        "repository": {"full_name": repository},
    }
    return PolledEvent("issue_comment", payload, _time(comment["created_at"]))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
