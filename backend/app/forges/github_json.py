"""Converts GitHub's JSON to and from the port's types. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.forges.port import Annotation, Commit, Issue, PullRequest

_MAX_TITLE = 255


def issue_of(found: Mapping[str, Any]) -> Issue:
    """Return an issue."""
    return Issue(
        number=found["number"],
        title=found["title"],
        body=found.get("body") or "",
        url=found["html_url"],
        is_open=found["state"] == "open",
    )


def pull_of(found: Mapping[str, Any]) -> PullRequest:
    """Return a pull request."""
    return PullRequest(
        number=found["number"],
        url=found["html_url"],
        state=found["state"],
        draft=bool(found.get("draft")),
        merged=found.get("merged_at") is not None,
        body=found.get("body") or "",
        node_id=found.get("node_id", ""),
        ended_at=_time(found.get("merged_at") or found.get("closed_at")),
    )


def commit_of(found: Mapping[str, Any]) -> Commit:
    """Return a commit from a list of commits."""
    commit = found["commit"]
    return Commit(found["sha"], commit["message"], datetime.fromisoformat(commit["committer"]["date"]))


def annotation_for(found: Annotation) -> dict[str, Any]:
    """Return an annotation of a check run as JSON."""
    return {
        "path": found.path,
        "start_line": found.line,
        "end_line": found.line,
        "annotation_level": "failure" if found.blocks else "notice",
        "title": found.title[:_MAX_TITLE],
        "message": found.message,
    }


def author_of(comment: Mapping[str, Any]) -> str | None:
    """Return the author of a comment; None if the account was deleted."""
    user: Mapping[str, Any] | None = comment.get("user")  # None if the account was deleted
    return user.get("login") if user else None


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
