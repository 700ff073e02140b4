"""Reads what a delivery of GitHub asks for; nothing here acts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

OWN = "<!-- phaserunner:"
"""Everything that the service writes on a forge holds this."""

_COMMAND = re.compile(r"/phaserunner[ \t]+(run|retry|stop)\b[ \t]*(.*)", re.DOTALL)
_MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is to be done; the reason is recorded."""

    reason: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody asks for something at an issue or pull request.

    Attributes:
        what: `label` stands for a label that was added.
        text: name of the label, or what follows the command.
        number: of the issue or pull request.
        at: when it was asked.
        more_labels: labels that were added at the same time.
    """

    what: str
    text: str
    repository: str
    number: int
    user: str
    at: datetime
    is_pull: bool = False
    more_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """A pull request was merged or closed, or opened again (`outcome` is None)."""

    repository: str
    number: int
    outcome: str | None
    user: str
    at: datetime


Wish = Nothing | Asked | Ended


class _User(BaseModel):
    login: str


class _Repository(BaseModel):
    full_name: str


class _Issue(BaseModel):
    number: int
    state: str = "open"
    updated_at: datetime
    pull_request: dict[str, Any] | None = None


class _Comment(BaseModel):
    body: str | None
    user: _User | None
    created_at: datetime


class _Label(BaseModel):
    name: str


class _Pull(BaseModel):
    number: int
    merged: bool = False
    updated_at: datetime


class _Labeled(BaseModel):
    repository: _Repository
    sender: _User
    issue: _Issue
    label: _Label


class _Commented(BaseModel):
    repository: _Repository
    issue: _Issue
    comment: _Comment


class _PullChanged(BaseModel):
    repository: _Repository
    sender: _User
    pull_request: _Pull


def read_delivery(event: str, payload: Mapping[str, Any]) -> Wish:
    """Say what a delivery asks for.

    Args:
        event: the header `X-GitHub-Event`.
        payload: the delivery's body.
    """
    action = payload.get("action")
    try:
        match event, action:
            case "issues", "labeled":
                return _labeled(_Labeled.model_validate(payload))
            case "issue_comment", "created":
                return _commented(_Commented.model_validate(payload))
            case "pull_request", "closed" | "reopened":
                return _ended(str(action), _PullChanged.model_validate(payload))
            case _:
                return Nothing(f"{event} {action or ''}".strip() + " is of no interest")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return Nothing(f"it cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}")


def _labeled(found: _Labeled) -> Wish:
    if found.issue.state != "open":
        return Nothing("the issue is closed")
    return Asked(
        "label",
        found.label.name,
        found.repository.full_name,
        found.issue.number,
        found.sender.login,
        found.issue.updated_at,
    )


def _commented(found: _Commented) -> Wish:
    comment = found.comment
    if comment.user is None:
        return Nothing("its author's account was deleted")
    wish = asked_by_comment(
        comment.body or "",
        found.repository.full_name,
        found.issue.number,
        comment.user.login,
        comment.created_at,
    )
    is_pull = found.issue.pull_request is not None
    return replace(wish, is_pull=is_pull) if isinstance(wish, Asked) else wish


def asked_by_comment(body: str, repository: str, number: int, user: str, at: datetime) -> Asked | Nothing:
    """Say what a comment on an issue asks for; what the service itself wrote asks for nothing."""
    if OWN in body:
        return Nothing("the service wrote it, or somebody quotes the service")
    command = _COMMAND.match(body)
    if command is None:
        return Nothing("it holds no command")
    return Asked(command[1], command[2].strip()[:_MAX_TEXT], repository, number, user, at)


def _ended(action: str, found: _PullChanged) -> Wish:
    pull = found.pull_request
    outcome = None if action == "reopened" else "merged" if pull.merged else "closed"
    return Ended(found.repository.full_name, pull.number, outcome, found.sender.login, pull.updated_at)
