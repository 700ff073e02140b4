"""Parses what a delivery of GitLab asks for; this module does not act on it."""

import hmac
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationError

from app.forges.deliveries import (
    OWN,
    Ended,
    Nothing,
    PushedCommit,
    RequestMade,
    ReviewStirred,
    Wish,
    asked_by_comment,
    pushed_to,
)

TOKEN_HEADER = "X-Gitlab-Token"  # noqa: S105 - the name of a header

_OUTCOMES = {"merge": "merged", "close": "closed", "reopen": None}
_STIRRING = ("update", "approved", "unapproved", "approval", "unapproval")
_FINISHED = ("success", "failed", "canceled", "skipped", "manual")


def is_from(secret: str, token: str) -> bool:
    """Return whether the header `X-Gitlab-Token` holds the secret; GitLab does not sign deliveries."""
    return bool(secret) and hmac.compare_digest(secret.encode(), token.encode())


def _moment(value: object) -> object:
    # Older versions write `2026-01-02 03:04:05 UTC`.
    return value.replace(" UTC", "Z") if isinstance(value, str) else value


_Moment = Annotated[datetime, BeforeValidator(_moment)]


class _User(BaseModel):
    username: str


class _Project(BaseModel):
    path_with_namespace: str


class _Label(BaseModel):
    title: str


class _Labels(BaseModel):
    previous: list[_Label] = []
    current: list[_Label] = []


class _Changes(BaseModel):
    labels: _Labels = _Labels()


class _Issue(BaseModel):
    iid: int
    state: str
    updated_at: _Moment


class _Note(BaseModel):
    id: int | None = None
    note: str
    noteable_type: str
    created_at: _Moment
    system: bool = False
    action: str = "create"


class _Merge(BaseModel):
    iid: int
    action: str = ""
    oldrev: str | None = None
    updated_at: _Moment


class _Number(BaseModel):
    iid: int


class _IssueEvent(BaseModel):
    user: _User
    project: _Project
    object_attributes: _Issue
    changes: _Changes = _Changes()


class _NoteEvent(BaseModel):
    user: _User
    project: _Project
    object_attributes: _Note
    issue: _Number | None = None
    merge_request: _Number | None = None


class _MergeEvent(BaseModel):
    user: _User
    project: _Project
    object_attributes: _Merge


class _Pipeline(BaseModel):
    sha: str
    status: str


class _PipelineEvent(BaseModel):
    project: _Project
    object_attributes: _Pipeline
    merge_request: _Number | None = None


class _PushEvent(BaseModel):
    project: _Project
    ref: str
    commits: list[PushedCommit] = []


def read_gitlab_delivery(event: str, payload: Mapping[str, Any]) -> Wish:
    """Return what a delivery asks for.

    Args:
        event: the header `X-Gitlab-Event`.
        payload: the delivery's body.
    """
    try:
        match event:
            case "Issue Hook":
                return _labeled(_IssueEvent.model_validate(payload))
            case "Note Hook":
                return _commented(_NoteEvent.model_validate(payload))
            case "Merge Request Hook":
                return _changed(_MergeEvent.model_validate(payload))
            case "Pipeline Hook":
                return _tested(_PipelineEvent.model_validate(payload))
            case "Push Hook":
                pushed = _PushEvent.model_validate(payload)
                return pushed_to(pushed.project.path_with_namespace, pushed.ref, pushed.commits)
            case _:
                return Nothing(f"{event} is of no interest")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return Nothing(f"it cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}")


def _labeled(found: _IssueEvent) -> Wish:
    before = {each.title for each in found.changes.labels.previous}
    added = [each.title for each in found.changes.labels.current if each.title not in before]
    if not added:
        return Nothing("no label was added")
    if found.object_attributes.state != "opened":
        return Nothing("the issue is closed")
    return RequestMade(
        "label",
        added[0],
        found.project.path_with_namespace,
        found.object_attributes.iid,
        found.user.username,
        found.object_attributes.updated_at,
        more_labels=tuple(added[1:]),
    )


def _commented(found: _NoteEvent) -> Wish:
    note = found.object_attributes
    if note.system or note.action != "create":
        return Nothing("it is no new comment")
    places = {"Issue": found.issue, "MergeRequest": found.merge_request}
    place = places.get(note.noteable_type)
    if place is None:
        return Nothing("commands are taken on issues and merge requests only")
    wish = asked_by_comment(
        note.note, found.project.path_with_namespace, place.iid, found.user.username, note.created_at
    )
    is_pull = note.noteable_type == "MergeRequest"
    if isinstance(wish, RequestMade):
        return replace(wish, comment=note.id, is_pull=is_pull)
    # A note may belong to a thread, which is read with the merge request.
    stirs = is_pull and OWN not in note.note
    return ReviewStirred(found.project.path_with_namespace, number=place.iid) if stirs else wish


def _tested(found: _PipelineEvent) -> Wish:
    pipeline = found.object_attributes
    if pipeline.status not in _FINISHED:
        return Nothing(f"the pipeline is {pipeline.status}")
    project, merge = found.project.path_with_namespace, found.merge_request
    # The commit of a pipeline for merged results is not the head.
    return ReviewStirred(project, number=merge.iid) if merge else ReviewStirred(project, commit=pipeline.sha)


def _changed(found: _MergeEvent) -> Wish:
    merge = found.object_attributes
    if merge.action in _STIRRING:
        project = found.project.path_with_namespace
        return ReviewStirred(project, number=merge.iid, moved=merge.oldrev is not None)
    if merge.action not in _OUTCOMES:
        return Nothing(f"the action {merge.action!r} is of no interest")
    outcome = _OUTCOMES[merge.action]
    return Ended(found.project.path_with_namespace, merge.iid, outcome, found.user.username, merge.updated_at)
