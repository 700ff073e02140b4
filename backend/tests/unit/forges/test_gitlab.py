"""The adapter of GitLab against a double on loopback, and its deliveries."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest

from app.forges.deliveries import OWN, Ended, Nothing, RequestMade, ReviewStirred
from app.forges.gitlab import GitLab
from app.forges.gitlab_deliveries import is_from, read_gitlab_delivery
from app.forges.operator_file import parse_forges
from app.forges.port import CommitStatus, ForgeError, NewPullRequest
from app.forges.repositories import Members
from tests.git_http import TOKEN, fixed_token
from tests.gitlab_double import GitLabDouble, gitlab_double

PROJECT = "acme/tools/widgets"
NEW = NewPullRequest(title="Round up", body="It rounds.", head="phaserunner/1", base="main", draft=True)
MARKER = "<!-- phaserunner:run:1 -->"


@pytest.fixture
def double() -> Iterator[GitLabDouble]:
    with gitlab_double(PROJECT) as running:
        running.add_issue(7, "Round up", "go")
        running.add_issue(8, "Round down")
        yield running


def adapter(double: GitLabDouble, token: str = TOKEN) -> GitLab:
    return GitLab(partial(httpx.AsyncClient, timeout=30.0), double.url, fixed_token(token))


@pytest.mark.anyio
async def test_reads_issues_permissions_and_branches(double: GitLabDouble) -> None:
    forge = adapter(double)
    issue = await forge.issue(PROJECT, 7)
    assert (issue.title, issue.body, issue.is_open) == ("Round up", "Please.", True)
    assert [each.number async for page in forge.issues(PROJECT, ["go"]) for each in page] == [7]
    assert await forge.default_branch(PROJECT) == "main"
    assert [await forge.may_write(PROJECT, each) for each in ("ada", "eve", "nemo")] == [True, False, False]


@pytest.mark.anyio
async def test_a_merge_request_is_opened_once_and_made_ready(double: GitLabDouble) -> None:
    forge = adapter(double)
    opened = await forge.open_pull(PROJECT, NEW)
    assert (opened.number, opened.draft, opened.state) == (1, True, "open")
    assert (await forge.open_pull(PROJECT, NEW)).number == 1
    await forge.update_pull(PROJECT, 1, "More.")
    await forge.mark_ready(opened)
    merge = double.merges[1]
    assert (merge["title"], merge["description"], merge["draft"]) == ("Round up", "More.", False)
    merge |= {"state": "merged", "merged_at": "2026-03-01T12:00:00.000Z"}
    found = await forge.find_pull(PROJECT, NEW.head)
    assert found is not None
    assert (found.merged, found.ended_at) == (True, datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.mark.anyio
@pytest.mark.parametrize("fork", [2, None], ids=["of a fork", "of a deleted fork"])
async def test_a_merge_request_of_somebody_elses_fork_is_not_taken_for_ours(
    double: GitLabDouble, fork: int | None
) -> None:
    forge = adapter(double)
    await forge.open_pull(PROJECT, NEW)
    theirs = {"source_project_id": fork, "description": "Bad work."}
    double.merges[1] |= theirs
    assert await forge.find_pull(PROJECT, NEW.head) is None
    ours = await forge.open_pull(PROJECT, NEW)
    assert (ours.number, double.merges[1]["description"]) == (2, "Bad work.")


@pytest.mark.anyio
async def test_one_comment_is_updated_and_a_status_is_set(double: GitLabDouble) -> None:
    forge = adapter(double)
    place = {"noteable_type": "Issue", "noteable_iid": 7}
    double.notes[1] = {"id": 1, "body": MARKER, "author": {"username": "eve"}, **place}
    first = await forge.put_comment(PROJECT, 7, MARKER, f"{MARKER} started", None)
    assert await forge.put_comment(PROJECT, 7, MARKER, f"{MARKER} done", None) == first
    assert [each["body"] for each in double.notes.values()] == [MARKER, f"{MARKER} done"]
    # An issue and a merge request may have the same number.
    of_merge = await forge.put_comment(PROJECT, 7, MARKER, f"{MARKER} merge", None, on_pull=True)
    assert of_merge != first
    assert double.notes[of_merge]["noteable_type"] == "MergeRequest"
    await forge.set_status(PROJECT, "a" * 40, CommitStatus(state="failure", description="x" * 200))
    assert (double.statuses[0]["state"], len(double.statuses[0]["description"])) == ("failed", 140)


FAILURES: dict[str, tuple[int, dict[str, str], str, bool]] = {
    "limit": (429, {"Retry-After": "30"}, "asks to wait", False),
    "rights": (403, {}, "give it more rights", False),
    "conflict": (409, {}, "told to fail", True),
    "moved": (301, {"Location": "https://elsewhere.example"}, "change FORGES_FILE", False),
    "server": (502, {}, "502", False),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "headers", "said", "permanent"), FAILURES.values(), ids=FAILURES.keys())
async def test_a_failure_says_what_to_do(
    double: GitLabDouble, status: int, headers: dict[str, str], said: str, permanent: bool
) -> None:
    double.failures = [(status, headers)]
    with pytest.raises(ForgeError, match=said) as failed:
        await adapter(double).issue(PROJECT, 7)
    assert failed.value.permanent is permanent
    assert (failed.value.retry_at is not None) == (status == 429)


@pytest.mark.anyio
async def test_a_refused_token_is_not_in_the_message(double: GitLabDouble) -> None:
    with pytest.raises(ForgeError, match="renew the credential") as refused:
        await adapter(double, "glpat-wrong").issue(PROJECT, 7)
    assert "glpat" not in str(refused.value)


def event(**attributes: Any) -> dict[str, Any]:
    return {
        "user": {"username": "ada"},
        "project": {"path_with_namespace": PROJECT},
        "object_attributes": {
            "iid": 7,
            "state": "opened",
            "updated_at": "2026-03-01 12:00:00 UTC",
            **attributes,
        },
    }


def test_added_labels_are_told_and_old_ones_are_not() -> None:
    labels = {"previous": [{"title": "old"}], "current": [{"title": t} for t in ("old", "go", "fast")]}
    found = read_gitlab_delivery("Issue Hook", event() | {"changes": {"labels": labels}})
    assert isinstance(found, RequestMade)
    assert (found.what, found.text, found.more_labels, found.number) == ("label", "go", ("fast",), 7)
    assert found.at == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert isinstance(read_gitlab_delivery("Issue Hook", event()), Nothing)
    closed = event(state="closed") | {"changes": {"labels": labels}}
    assert isinstance(read_gitlab_delivery("Issue Hook", closed), Nothing)


def comment(body: str, **more: Any) -> dict[str, Any]:
    attributes = {"note": body, "noteable_type": "Issue", "created_at": "2026-03-01T12:00:00Z", **more}
    return event() | {"object_attributes": attributes, "issue": {"iid": 7}}


def on_merge(body: str, **more: Any) -> dict[str, Any]:
    payload = comment(body, noteable_type="MergeRequest", **more) | {"merge_request": {"iid": 3}}
    return {name: payload[name] for name in payload if name != "issue"}


def stirred(**more: Any) -> ReviewStirred:
    return ReviewStirred(PROJECT, **more)


def test_a_command_on_a_merge_request_is_taken() -> None:
    found = read_gitlab_delivery("Note Hook", on_merge("/phaserunner stop"))
    assert isinstance(found, RequestMade)
    assert (found.what, found.number, found.is_pull) == ("stop", 3, True)


def test_a_command_on_an_issue_is_taken_and_others_are_not() -> None:
    found = read_gitlab_delivery("Note Hook", comment("/phaserunner retry round half up"))
    assert isinstance(found, RequestMade)
    assert (found.what, found.text, found.number) == ("retry", "round half up", 7)
    assert not found.is_pull
    ignored = [
        comment("hello"),
        comment(f"/phaserunner run {OWN}x -->"),
        comment("/phaserunner run", system=True),
        comment("/phaserunner run", action="update"),
        comment("/phaserunner run", noteable_type="Commit"),
        {"object_attributes": 1},
    ]
    assert all(isinstance(read_gitlab_delivery("Note Hook", each), Nothing) for each in ignored)


@pytest.mark.parametrize(("action", "outcome"), [("merge", "merged"), ("close", "closed"), ("reopen", None)])
def test_the_end_of_a_merge_request_is_told(action: str, outcome: str | None) -> None:
    found = read_gitlab_delivery("Merge Request Hook", event(action=action))
    assert isinstance(found, Ended)
    assert (found.repository, found.number, found.outcome) == (PROJECT, 7, outcome)


def test_other_actions_end_nothing() -> None:
    assert isinstance(read_gitlab_delivery("Merge Request Hook", event(action="open")), Nothing)
    assert isinstance(read_gitlab_delivery("Push Hook", {}), Nothing)


STIRRING: dict[str, tuple[str, dict[str, Any], ReviewStirred]] = {
    "a new head": ("Merge Request Hook", event(action="update", oldrev="1"), stirred(number=7, moved=True)),
    "another title": ("Merge Request Hook", event(action="update"), stirred(number=7)),
    "approved": ("Merge Request Hook", event(action="approved"), stirred(number=7)),
    "an approval": ("Merge Request Hook", event(action="approval"), stirred(number=7)),
    "withdrawn": ("Merge Request Hook", event(action="unapproved"), stirred(number=7)),
    "a note": ("Note Hook", on_merge("Why?"), stirred(number=3)),
    "a pipeline": ("Pipeline Hook", event(sha="a1", status="failed"), stirred(commit="a1")),
    "a pipeline of merged results": (
        "Pipeline Hook",
        event(sha="a1", status="success") | {"merge_request": {"iid": 3}},
        stirred(number=3),
    ),
}


@pytest.mark.parametrize(("kind", "payload", "expected"), STIRRING.values(), ids=STIRRING.keys())
def test_what_may_affect_a_review_is_told(
    kind: str, payload: dict[str, Any], expected: ReviewStirred
) -> None:
    assert read_gitlab_delivery(kind, payload) == expected


def test_what_affects_no_review_stirs_nothing() -> None:
    quiet = [
        ("Pipeline Hook", event(sha="a1", status="running")),
        ("Note Hook", on_merge(f"{OWN}review:1 --> said")),
        ("Note Hook", on_merge("Why?", system=True)),
        ("Note Hook", comment("Why?")),
        ("Pipeline Hook", {"object_attributes": {}}),
    ]
    assert all(isinstance(read_gitlab_delivery(*each), Nothing) for each in quiet)


def test_the_webhook_token_is_compared_whole() -> None:
    assert is_from("secret", "secret")
    assert not any(is_from("secret", each) for each in ("", "secre", "secrets", "sécret"))
    assert not is_from("", "")


def test_the_file_knows_gitlab_and_its_urls() -> None:
    text = """
[credentials.acme]
env = "TOKEN"
[forges.lab]
kind = "gitlab"
credential = "acme"
[[repositories]]
name = "acme/tools/widgets"
forge = "lab"
"""
    file = parse_forges(text, "forges.toml")
    assert (file.forges["lab"].api, file.forges["lab"].web) == (
        "https://gitlab.com/api/v4",
        "https://gitlab.com",
    )
    for path in ("-/issues/7", "-/work_items/7", "issues/7"):
        member, number = Members(file).of_issue(f"https://gitlab.com/{PROJECT}/{path}")
        assert (member.repository.name, number) == (PROJECT, 7)
