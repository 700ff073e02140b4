"""Polls GitLab for labels and notes."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast
from urllib.parse import quote

from typing_extensions import override

from app.forges.gitlab import GITLAB
from app.forges.polling import MAX_PAGES, PolledEvent, PollForge, warn_of_rest
from app.forges.rest import OpenClient, ReadToken, RestApi


class GitLabPolling(PollForge):
    """Reads notes, and label events of changed issues.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request.
    """

    def __init__(self, open_client: OpenClient, api: str, token: ReadToken) -> None:
        self._api = RestApi(GITLAB, open_client, api, token)

    @override
    async def labeled_since(
        self, repository: str, labels: Collection[str], since: datetime
    ) -> Sequence[PolledEvent]:
        issues = f"/projects/{quote(repository, safe='')}/issues"
        query = {"state": "opened", "updated_after": since.astimezone(UTC).isoformat()}
        found: list[PolledEvent] = []
        cut = partial(warn_of_rest, repository, "issues that changed")
        for issue in await self._api.every(issues, query, most=MAX_PAGES, cut=cut):
            if not set(labels) & set(issue["labels"]):
                continue
            path, number = f"{issues}/{issue['iid']}/resource_label_events", issue["iid"]
            cut = partial(warn_of_rest, f"{repository}#{number}", "events of labels")
            events = await self._api.every(path, most=MAX_PAGES, cut=cut)
            new = [each for each in events if _is_of(each, labels) and _time(each["created_at"]) >= since]
            found += [_labeled(repository, number, each) for each in new]
        return sorted(found, key=lambda each: each.at)

    @override
    async def commented_since(self, repository: str, since: datetime) -> Sequence[PolledEvent]:
        # GitLab takes a date, and returns what came after that day.
        day = (since.astimezone(UTC) - timedelta(days=1)).strftime("%Y-%m-%d")
        query = {"action": "commented", "target_type": "note", "after": day, "sort": "desc"}
        events = f"/projects/{quote(repository, safe='')}/events"
        cut = partial(warn_of_rest, repository, "comments")
        every = await self._api.every(events, query, most=MAX_PAGES, cut=cut)
        notes = [cast("dict[str, Any]", each["note"]) for each in reversed(every) if each.get("note")]
        # The author is None if the account was deleted.
        new = [each for each in notes if each.get("author") and _time(each["created_at"]) >= since]
        return [_noted(repository, each) for each in new]


def _is_of(event: Mapping[str, Any], labels: Collection[str]) -> bool:
    # The label and the account are None if they were deleted.
    label = event.get("label")
    if event.get("action") != "add" or not (label and event.get("user")):
        return False
    return label.get("name") in labels


def _labeled(repository: str, number: int, event: Mapping[str, Any]) -> PolledEvent:
    payload = {
        "user": {"username": event["user"]["username"]},
        "project": {"path_with_namespace": repository},
        "object_attributes": {"iid": number, "state": "opened", "updated_at": event["created_at"]},
        "changes": {"labels": {"previous": [], "current": [{"title": event["label"]["name"]}]}},
    }
    return PolledEvent("Issue Hook", payload, _time(event["created_at"]))


def _noted(repository: str, note: Mapping[str, Any]) -> PolledEvent:
    payload = {
        "user": {"username": note["author"]["username"]},
        "project": {"path_with_namespace": repository},
        "object_attributes": {
            "id": note["id"],
            "note": note["body"],
            "noteable_type": note["noteable_type"],
            "created_at": note["created_at"],
            "system": note["system"],
        },
        "merge_request" if note["noteable_type"] == "MergeRequest" else "issue": {
            "iid": note["noteable_iid"]
        },
    }
    return PolledEvent("Note Hook", payload, _time(note["created_at"]))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
