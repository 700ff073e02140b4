"""Deliveries of GitHub: what they ask for, and how their signatures are checked."""

from typing import Any

import pytest

from app.forges.deliveries import OWN, Ended, Nothing, RequestMade, ReviewStirred, read_delivery
from app.forges.signatures import is_signed

AT = "2026-01-02T03:04:05Z"
BASE: dict[str, Any] = {"repository": {"full_name": "acme/widgets"}, "sender": {"login": "ada"}}
ISSUE = {"number": 7, "state": "open", "updated_at": AT}


def comment(body: str | None, **issue: Any) -> dict[str, Any]:
    said = {"body": body, "user": {"login": "ada"}, "created_at": AT}
    return BASE | {"action": "created", "issue": ISSUE | issue, "comment": said}


@pytest.mark.parametrize(
    ("body", "what", "text"),
    [
        ("/phaserunner run", "run", ""),
        ("/phaserunner retry Round half up.\nAs invoices do.", "retry", "Round half up.\nAs invoices do."),
        ("/phaserunner  stop", "stop", ""),
    ],
)
def test_commands(body: str, what: str, text: str) -> None:
    found = read_delivery("issue_comment", comment(body))
    assert isinstance(found, RequestMade)
    assert (found.what, found.text, found.number, found.user) == (what, text, 7, "ada")


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "Please /phaserunner run",
        "> /phaserunner run",
        "/phaserunner runs",
        "/phaserunner delete",
        f"/phaserunner run\n{OWN}run:1 -->",  # what the service wrote, or a quotation of it
    ],
)
def test_what_is_no_command(body: str | None) -> None:
    assert isinstance(read_delivery("issue_comment", comment(body)), Nothing)


def test_a_label_and_the_pull_request_it_is_not_for() -> None:
    labeled = BASE | {"action": "labeled", "issue": ISSUE, "label": {"name": "go"}}
    found = read_delivery("issues", labeled)
    assert isinstance(found, RequestMade)
    assert (found.what, found.text) == ("label", "go")
    assert isinstance(read_delivery("issues", labeled | {"issue": ISSUE | {"state": "closed"}}), Nothing)


@pytest.mark.parametrize(
    ("action", "merged", "outcome"),
    [("closed", True, "merged"), ("closed", False, "closed"), ("reopened", False, None)],
)
def test_outcomes(action: str, merged: bool, outcome: str | None) -> None:
    pull = {"number": 9, "merged": merged, "updated_at": AT}
    found = read_delivery("pull_request", BASE | {"action": action, "pull_request": pull})
    assert isinstance(found, Ended)
    assert (found.number, found.outcome) == (9, outcome)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("ping", {"zen": "…"}),
        ("issues", {"action": "labeled"}),
        ("issues", {"action": ["labeled"]}),
        ("pull_request", {"action": "closed", "pull_request": None} | BASE),
        ("issue_comment", comment("/phaserunner run") | {"repository": None}),  # a deleted repository
    ],
)
def test_what_cannot_be_read_asks_for_nothing(event: str, payload: dict[str, Any]) -> None:
    assert isinstance(read_delivery(event, payload), Nothing)


def test_signatures() -> None:
    # The example of GitHub's documentation.
    right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    secret, body = "It's a Secret to Everybody", b"Hello, World!"
    assert is_signed(secret, body, right)
    for given in ("", "sha256=", right.upper(), right[:-1], f"sha1={right}", "sha256=é"):
        assert not is_signed(secret, body, given)
    assert not is_signed(secret, b"Hello, World?", right)
    assert not is_signed("", body, right)


PULL = {"pull_request": {"number": 9, "updated_at": AT}}
CHECKED = {"head_sha": "a1"}


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        (
            "pull_request",
            {"action": "synchronize", **PULL},
            ReviewStirred("acme/widgets", number=9, moved=True),
        ),
        ("pull_request", {"action": "ready_for_review", **PULL}, ReviewStirred("acme/widgets", number=9)),
        ("pull_request_review", {"action": "submitted", **PULL}, ReviewStirred("acme/widgets", number=9)),
        (
            "pull_request_review_comment",
            {"action": "created", **PULL},
            ReviewStirred("acme/widgets", number=9),
        ),
        (
            "check_run",
            {"action": "completed", "check_run": CHECKED},
            ReviewStirred("acme/widgets", commit="a1"),
        ),
        (
            "check_suite",
            {"action": "completed", "check_suite": CHECKED},
            ReviewStirred("acme/widgets", commit="a1"),
        ),
        ("status", {"sha": "a1"}, ReviewStirred("acme/widgets", commit="a1")),
        ("push", {"ref": "refs/heads/release/1"}, ReviewStirred("acme/widgets", branch="release/1")),
    ],
)
def test_what_a_review_may_depend_on(event: str, payload: dict[str, Any], expected: ReviewStirred) -> None:
    assert read_delivery(event, BASE | payload) == expected


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("push", {"ref": "refs/tags/v1"}),
        ("check_run", {"action": "created", "check_run": CHECKED}),
        ("pull_request_review", {"action": "submitted"}),
        ("status", {}),
    ],
)
def test_what_stirs_no_review(event: str, payload: dict[str, Any]) -> None:
    assert isinstance(read_delivery(event, BASE | payload), Nothing)
