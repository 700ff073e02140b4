"""Parses what a delivery of GitHub asks for; this module does not act on it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from app.forges.outcomes import REVERT_WORD

OWN = "<!-- phaserunner:"
"""A marker in everything that the service writes on a forge."""

_COMMAND = re.compile(r"/phaserunner[ \t]+(run|retry|stop)\b[ \t]*(.*)", re.DOTALL)
_MAX_TEXT = 4_000
_BRANCHES = "refs/heads/"
_STIRRING = (
    ("pull_request", "synchronize"),
    ("pull_request", "ready_for_review"),
    ("pull_request_review", "submitted"),
    ("pull_request_review", "edited"),
    ("pull_request_review", "dismissed"),
    ("pull_request_review_comment", "created"),
    ("check_run", "completed"),
    ("check_suite", "completed"),
    ("status", None),
    ("push", None),
)


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to do; the reason is recorded."""

    reason: str


@dataclass(frozen=True, slots=True)
class RequestMade:
    """Someone asks for something at an issue or pull request.

    Attributes:
        what: the command; `label` stands for a label that was added.
        text: name of the label, or the text after the command.
        number: number of the issue or pull request.
        at: when it was asked.
        more_labels: labels that were added at the same time.
        comment: number of the comment that holds the command.
    """

    what: str
    text: str
    repository: str
    number: int
    user: str
    at: datetime
    is_pull: bool = False
    more_labels: tuple[str, ...] = ()
    comment: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A pull request was merged, closed or reopened (`outcome` is None)."""

    repository: str
    number: int
    outcome: str | None
    user: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ReviewStirred:
    """Something happened that may affect a review; the details are read from the forge.

    Attributes:
        number: number of the pull request, if the delivery names one.
        commit: commit of the head, if the delivery names only that.
        branch: the branch that was pushed to.
        moved: whether the pull request has another head.
        reverts: whether the message of a pushed commit mentions a revert.
    """

    repository: str
    number: int | None = None
    commit: str | None = None
    branch: str | None = None
    moved: bool = False
    reverts: bool = False


Wish = Nothing | RequestMade | Ended | ReviewStirred


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
    id: int | None = None
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


class _Number(BaseModel):
    number: int


class _PullChanged(BaseModel):
    repository: _Repository
    sender: _User
    pull_request: _Pull


class _Reviewed(BaseModel):
    repository: _Repository
    pull_request: _Number


class _CheckRun(BaseModel):
    head_sha: str


class _Checked(BaseModel):
    repository: _Repository
    check_run: _CheckRun | None = None
    check_suite: _CheckRun | None = None


class _Status(BaseModel):
    repository: _Repository
    sha: str


class PushedCommit(BaseModel):
    """A commit of a push."""

    message: str = ""


class _Pushed(BaseModel):
    repository: _Repository
    ref: str
    commits: list[PushedCommit] = []


def read_delivery(event: str, payload: Mapping[str, Any]) -> Wish:
    """Return what a delivery asks for.

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
            case _ if (event, action) in _STIRRING:
                return _stirred(event, payload)
            case _:
                return Nothing(f"{event} {action or ''}".strip() + " is of no interest")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return Nothing(f"it cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}")


def _stirred(event: str, payload: Mapping[str, Any]) -> Wish:
    match event:
        case "check_run" | "check_suite":
            checked = _Checked.model_validate(payload)
            run = checked.check_run or checked.check_suite
            return ReviewStirred(checked.repository.full_name, commit=run.head_sha if run else None)
        case "status":
            status = _Status.model_validate(payload)
            return ReviewStirred(status.repository.full_name, commit=status.sha)
        case "push":
            pushed = _Pushed.model_validate(payload)
            return pushed_to(pushed.repository.full_name, pushed.ref, pushed.commits)
        case _:
            found = _Reviewed.model_validate(payload)
            moved = payload.get("action") == "synchronize"
            return ReviewStirred(found.repository.full_name, number=found.pull_request.number, moved=moved)


def pushed_to(repository: str, ref: str, commits: Sequence[PushedCommit]) -> ReviewStirred | Nothing:
    """Return what a push may affect."""
    if not ref.startswith(_BRANCHES):
        return Nothing("no branch was pushed to")
    reverts = any(REVERT_WORD in each.message.lower() for each in commits)
    return ReviewStirred(repository, branch=ref.removeprefix(_BRANCHES), reverts=reverts)


def _labeled(found: _Labeled) -> Wish:
    if found.issue.state != "open":
        return Nothing("the issue is closed")
    return RequestMade(
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
    return replace(wish, is_pull=is_pull, comment=comment.id) if isinstance(wish, RequestMade) else wish


def asked_by_comment(
    body: str, repository: str, number: int, user: str, at: datetime
) -> RequestMade | Nothing:
    """Return what a comment on an issue asks for; the service's own comments ask for nothing."""
    if OWN in body:
        return Nothing("the service wrote it, or somebody quotes the service")
    command = command_in(body)
    if command is None:
        return Nothing("it holds no command")
    return RequestMade(*command, repository, number, user, at)


def command_in(body: str) -> tuple[str, str] | None:
    """Return the command at the start of a comment and the text after it; None if there is no command."""
    found = None if OWN in body else _COMMAND.match(body)
    return None if found is None else (found[1], found[2].strip()[:_MAX_TEXT])


def _ended(action: str, found: _PullChanged) -> Wish:
    pull = found.pull_request
    outcome = None if action == "reopened" else "merged" if pull.merged else "closed"
    return Ended(found.repository.full_name, pull.number, outcome, found.sender.login, pull.updated_at)
