"""Parses only the needed fields of a large delivery; the rest never becomes Python objects."""

from typing import Any

from pydantic import BaseModel, ValidationError

from app.forges.outcomes import REVERT_WORD

LARGE_BYTES = 1_000_000
"""The size in bytes from which a delivery is large."""

_Scalar = str | int | float | bool | None


class _Kept(BaseModel):
    """The needed keys of a field in deliveries of GitHub or GitLab. Other keys are left out."""

    action: _Scalar = None
    login: _Scalar = None
    username: _Scalar = None
    full_name: _Scalar = None
    path_with_namespace: _Scalar = None
    number: _Scalar = None
    iid: _Scalar = None
    id: _Scalar = None
    name: _Scalar = None
    title: _Scalar = None
    state: _Scalar = None
    body: _Scalar = None
    note: _Scalar = None
    noteable_type: _Scalar = None
    system: _Scalar = None
    merged: _Scalar = None
    head_sha: _Scalar = None
    created_at: _Scalar = None
    updated_at: _Scalar = None


class _Author(_Kept):
    user: _Kept | None = None


class _Issue(_Kept):
    pull_request: _Kept | None = None


class _Titles(BaseModel):
    previous: list[_Kept] = []
    current: list[_Kept] = []


class _Changes(BaseModel):
    labels: _Titles | None = None


class _Commit(BaseModel):
    message: str = ""


class _Whole(BaseModel):
    action: _Scalar = None
    ref: _Scalar = None
    sha: _Scalar = None
    repository: _Kept | None = None
    project: _Kept | None = None
    sender: _Kept | None = None
    user: _Kept | None = None
    issue: _Issue | None = None
    comment: _Author | None = None
    label: _Kept | None = None
    pull_request: _Kept | None = None
    merge_request: _Kept | None = None
    check_run: _Kept | None = None
    check_suite: _Kept | None = None
    object_attributes: _Kept | None = None
    changes: _Changes | None = None
    commits: list[_Commit] = []


def read_large(body: bytes | bytearray) -> dict[str, Any]:
    """Return the needed parts of a delivery; of a push's commits, only one that may be a revert.

    A delivery whose fields do not have the forge's types is returned empty: it asks for nothing.

    Raises:
        ValueError: the body is not a JSON object.
    """
    try:
        found = _Whole.model_validate_json(body)
    except ValidationError as error:
        if any(not each["loc"] for each in error.errors(include_url=False, include_input=False)):
            raise ValueError("no JSON object") from error
        return {}
    reverts = [each for each in found.commits if REVERT_WORD in each.message.lower()]
    return found.model_copy(update={"commits": reverts[:1]}).model_dump(exclude_unset=True)
