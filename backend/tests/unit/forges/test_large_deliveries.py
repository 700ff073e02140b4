"""Large deliveries: only what is read of them is kept."""

import json
from typing import Any

import pytest

from app.forges.deliveries import ReviewStirred, read_delivery
from app.forges.gitlab_deliveries import read_gitlab_delivery
from app.forges.large_deliveries import read_large

WHERE = {"full_name": "acme/widgets", "topics": ["x"] * 10}


def push(messages: list[str]) -> dict[str, Any]:
    commits = [{"id": "1", "message": each, "added": ["a.py"] * 100} for each in messages]
    return {"repository": WHERE, "ref": "refs/heads/main", "commits": commits, "installation": {"id": 1}}


@pytest.mark.parametrize("last", ["Add more", 'Revert "Add"\n\nThis reverts commit 1a2b.'])
def test_a_push_is_read_the_same_and_kept_short(last: str) -> None:
    payload = push(["Add"] * 2_000 + [last])
    kept = read_large(json.dumps(payload).encode())
    assert read_delivery("push", kept) == read_delivery("push", payload)
    assert isinstance(read_delivery("push", kept), ReviewStirred)
    assert len(json.dumps(kept)) < 300


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        pytest.param(
            "Issue Hook",
            {
                "user": {"username": "ada"},
                "project": {"path_with_namespace": "acme/tools/widgets"},
                "object_attributes": {"iid": 7, "state": "opened", "updated_at": "2026-03-01 12:00:00 UTC"},
                "changes": {"labels": {"previous": [], "current": [{"title": "go", "color": "#fff"}]}},
            },
            id="label",
        ),
        pytest.param(
            "Note Hook",
            {
                "user": {"username": "ada"},
                "project": {"path_with_namespace": "acme/widgets"},
                "object_attributes": {
                    "id": 5,
                    "note": "/phaserunner run",
                    "noteable_type": "Issue",
                    "created_at": "2026-03-01T12:00:00Z",
                    "action": "create",
                },
                "issue": {"iid": 7, "description": "long"},
            },
            id="command",
        ),
        pytest.param(
            "Merge Request Hook",
            {
                "user": {"username": "ada"},
                "project": {"path_with_namespace": "acme/widgets"},
                "object_attributes": {"iid": 3, "action": "merge", "updated_at": "2026-03-01T12:00:00Z"},
            },
            id="end",
        ),
        pytest.param(
            "Push Hook",
            {"project": {"path_with_namespace": "acme/widgets"}, "ref": "refs/heads/main"},
            id="push",
        ),
    ],
)
def test_gitlabs_deliveries_are_read_the_same(event: str, payload: dict[str, Any]) -> None:
    kept = read_large(json.dumps(payload).encode())
    assert read_gitlab_delivery(event, kept) == read_gitlab_delivery(event, payload)
    assert "color" not in json.dumps(kept)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b"[" * 5_000, b'{"ref": "\xff"}'])
def test_what_is_no_json_object(body: bytes) -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        read_large(body)


def test_fields_of_another_form_ask_for_nothing() -> None:
    assert read_large(b'{"repository": 7, "commits": "many"}') == {}
