"""What polls find on each forge reads like the deliveries that would tell of it."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.forges.deliveries import RequestMade, read_delivery
from app.forges.github_polling import GitHubPolling
from app.forges.gitlab_deliveries import read_gitlab_delivery
from app.forges.gitlab_polling import GitLabPolling
from app.forges.polling import MAX_PAGES
from tests.forge_double import github_double
from tests.git_http import TOKEN, fixed_token
from tests.gitlab_double import gitlab_double

pytestmark = pytest.mark.anyio

NOW = datetime.now(UTC).replace(microsecond=0)
SINCE = NOW - timedelta(minutes=5)
PROJECT = "acme/tools/widgets"


async def test_github(tmp_path: Path) -> None:
    with github_double("acme/widgets", "https://github.com", tmp_path) as double:
        double.add_issue(7, "Round up", "")
        forge = GitHubPolling(httpx.AsyncClient, double.url, fixed_token(TOKEN))
        for _ in range(3):
            double.labeled(7, "other")
        told = double.labeled(7, "go")
        (found,) = await forge.labeled_since("acme/widgets", ["go"], SINCE)
        wish = read_delivery(found.event, found.payload)
        assert isinstance(wish, RequestMade)
        assert wish == read_delivery("issues", told)
        double.events[-1]["actor"] = None
        assert await forge.labeled_since("acme/widgets", ["go"], SINCE) == []
        said = double.commented(7, "/phaserunner run")
        (comment,) = await forge.commented_since("acme/widgets", SINCE)
        assert read_delivery(comment.event, comment.payload) == read_delivery("issue_comment", said)
        double.pulls[7] = {}
        (comment,) = await forge.commented_since("acme/widgets", SINCE)
        wish = read_delivery(comment.event, comment.payload)
        assert isinstance(wish, RequestMade)
        assert wish.is_pull


async def test_many_events_are_read_until_those_of_before(tmp_path: Path) -> None:
    with github_double("acme/widgets", "https://github.com", tmp_path) as double:
        double.add_issue(7, "Round up", "")
        forge = GitHubPolling(httpx.AsyncClient, double.url, fixed_token(TOKEN))
        for _ in range(400):
            double.labeled(7, "go")
        for each in double.events[:250]:
            each["created_at"] = "2020-01-01T00:00:00Z"
        assert len(await forge.labeled_since("acme/widgets", ["go"], SINCE)) == 150
        assert len([each for each in double.exchanges if each.path.endswith("/events")]) == 2


async def test_what_was_deleted_is_left_out(tmp_path: Path) -> None:
    with github_double("acme/widgets", "https://github.com", tmp_path) as double:
        double.add_issue(7, "Round up", "")
        forge = GitHubPolling(httpx.AsyncClient, double.url, fixed_token(TOKEN))
        double.labeled(7, "go")
        good = double.events[-1]
        double.events += [{**good, name: None} for name in ("issue", "label", "actor")]
        double.events += [
            {name: each for name, each in good.items() if name != missing}
            for missing in ("issue", "label", "actor", "event")
        ]
        (found,) = await forge.labeled_since("acme/widgets", ["go"], SINCE)
        assert found.payload["issue"]["number"] == 7
    with gitlab_double(PROJECT) as double:
        double.add_issue(7, "Round up", "go")
        at = NOW.isoformat()
        event = {"action": "add", "created_at": at, "user": {"username": "ada"}, "label": {"name": "go"}}
        bad = [{**event, name: None} for name in ("label", "user")]
        bad += [
            {name: each for name, each in event.items() if name != missing}
            for missing in ("label", "user", "action")
        ]
        double.label_events[7] = [*bad, event]
        double.events = [{"note": {"author": None, "created_at": at}}]
        forge = GitLabPolling(httpx.AsyncClient, double.url, fixed_token(TOKEN))
        assert len(await forge.labeled_since(PROJECT, ["go"], SINCE)) == 1
        assert await forge.commented_since(PROJECT, SINCE) == []


async def test_after_an_outage_older_events_are_read_or_a_warning_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with github_double("acme/widgets", "https://github.com", tmp_path) as double:
        double.add_issue(7, "Round up", "")
        forge = GitHubPolling(partial(httpx.AsyncClient, verify=False), double.url, fixed_token(TOKEN))
        double.labeled(7, "go")
        double.labeled(7, "other")
        (wanted, other), before = double.events, {**double.events[0], "created_at": "2020-01-01T00:00:00Z"}
        double.events = [before, wanted, *[other] * 1_500]
        assert len(await forge.labeled_since("acme/widgets", ["go"], SINCE)) == 1
        assert caplog.text == ""
        double.events = [wanted, *[other] * 100 * MAX_PAGES]
        assert await forge.labeled_since("acme/widgets", ["go"], SINCE) == []
        assert "acme/widgets has more new events of issues than a poll reads" in caplog.text


async def test_gitlab() -> None:
    with gitlab_double(PROJECT) as double:
        double.add_issue(7, "Round up", "go")
        double.add_issue(8, "Round down")
        at = NOW.isoformat()
        event = {"action": "add", "created_at": at, "user": {"username": "ada"}}
        gone = {**event, "label": None}
        before = {**event, "label": {"name": "go"}, "created_at": "2020-01-01T00:00:00Z"}
        removed = {**event, "label": {"name": "go"}, "action": "remove"}
        double.label_events[7] = [before, gone, removed, {**event, "label": {"name": "go"}}]
        forge = GitLabPolling(httpx.AsyncClient, double.url, fixed_token(TOKEN))
        (found,) = await forge.labeled_since(PROJECT, ["go"], SINCE)
        wish = read_gitlab_delivery(found.event, found.payload)
        assert wish == RequestMade("label", "go", PROJECT, 7, "ada", NOW)
        note = {
            "id": 31,
            "body": "/phaserunner stop now",
            "author": {"username": "ada"},
            "noteable_type": "Issue",
            "noteable_iid": 7,
            "created_at": at,
            "system": False,
        }
        double.events = [
            {"note": note},
            {"note": None},
            {"note": {**note, "created_at": "2020-01-01T00:00:00Z"}},
        ]
        (said,) = await forge.commented_since(PROJECT, SINCE)
        wish = read_gitlab_delivery(said.event, said.payload)
        assert wish == RequestMade("stop", "now", PROJECT, 7, "ada", NOW, comment=31)
        double.events = [{"note": {**note, "noteable_type": "MergeRequest"}}]
        (said,) = await forge.commented_since(PROJECT, SINCE)
        wish = read_gitlab_delivery(said.event, said.payload)
        assert wish == RequestMade("stop", "now", PROJECT, 7, "ada", NOW, comment=31, is_pull=True)
