"""Reads the review of a merge request from GitLab."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import quote

import anyio
from typing_extensions import override

from app.forges.deliveries import OWN, command_in
from app.forges.gitlab import GITLAB, STATUS_NAME, GitLab, project_path, pull_of
from app.forges.job_logs import failing_part
from app.forges.port import ForgeError, writers_among
from app.forges.rest import OpenClient, ReadToken, RestApi
from app.forges.reviews import (
    CheckReport,
    PullFacts,
    RemarkAtLine,
    Request,
    Review,
    ReviewedPull,
    ReviewForge,
)

_MAX_LOG_BYTES = 4_000_000
_PENDING = frozenset(
    {
        "created",
        "waiting_for_resource",
        "waiting_for_callback",
        "preparing",
        "pending",
        "running",
        "scheduled",
    }
)
_UNDECIDED = frozenset({"unchecked", "checking", "preparing", "cannot_be_merged_recheck"})
"""Values of `detailed_merge_status` (on older servers `merge_status`) while GitLab looks for conflicts."""

_MERGEABLE_LOOKS = 4
_MERGEABLE_SECONDS = 1.5


class GitLabReviews(ReviewForge):
    """Reads approvals, discussions, jobs and external statuses.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request.
        forge: the adapter of the same forge, which tells who may write.
    """

    def __init__(self, open_client: OpenClient, api: str, token: ReadToken, forge: GitLab) -> None:
        self._api = RestApi(GITLAB, open_client, api, token)
        self._forge = forge

    @override
    async def facts(self, repository: str, number: int) -> PullFacts:
        found = await self._found(repository, number)
        pull = await self._pull(repository, found)
        if pull.pull.state == "closed":
            return PullFacts(pull=pull)
        place = _place(repository, number)
        notes = _notes_in(await self._api.every(f"{place}/discussions"))
        reviews = [*await self._opinions(place), *(each for note in notes if (each := _thread(note)))]
        remarks = [each for note in notes if (each := _remark(note))]
        requests = [each for note in notes if (each := _request(note))]
        failing = await self._failing(repository, pull.target_head)
        users = {each.user for each in (*reviews, *remarks, *requests)}
        return PullFacts(
            pull=pull,
            reviews=reviews,
            remarks=remarks,
            requests=requests,
            checks=await self._checks(repository, _tested(found), failing),
            failing_at_target=failing,
            writers=await writers_among(self._forge, repository, users),
        )

    @override
    async def pull(self, repository: str, number: int) -> ReviewedPull:
        return await self._pull(repository, await self._found(repository, number))

    @override
    async def merge_base(self, repository: str, target: str, head: str) -> str:
        path = f"{project_path(repository)}/repository/merge_base"
        found = await self._api.call("GET", f"{path}?refs[]={quote(target)}&refs[]={quote(head)}")
        return str(found["id"])

    async def _found(self, repository: str, number: int) -> dict[str, Any]:
        # GitLab computes whether there are conflicts after the first request.
        found: dict[str, Any] = {}
        for look in range(_MERGEABLE_LOOKS):
            if look:
                await anyio.sleep(_MERGEABLE_SECONDS)
            found = await self._api.call("GET", _place(repository, number))
            if found["state"] != "opened" or _is_decided(found):
                break
        return found

    async def _pull(self, repository: str, found: Mapping[str, Any]) -> ReviewedPull:
        target = str(found["target_branch"])
        branch = f"{project_path(repository)}/repository/branches/{quote(target, safe='')}"
        return ReviewedPull(
            pull=pull_of(repository, found),
            head=found["sha"],
            branch=found["source_branch"],
            target=target,
            target_head=str((await self._api.call("GET", branch))["commit"]["id"]),
            mergeable=not found.get("has_conflicts") if _is_decided(found) else None,
        )

    async def _opinions(self, place: str) -> list[Review]:
        """Return who approves and who asks for changes. What they write are notes."""
        approvals: dict[str, list[dict[str, Any]]] = await self._api.call("GET", f"{place}/approvals")
        # Servers before GitLab 15 do not list the states of reviewers.
        found: list[dict[str, Any]] | None
        found = await self._api.call("GET", f"{place}/reviewers", missing_ok=True)
        asked = [each["user"] for each in found or [] if each.get("state") == "requested_changes"]
        return [
            *(_opinion(each["user"], "approved") for each in approvals["approved_by"]),
            *(_opinion(each, "changes_requested") for each in asked),
        ]

    async def _failing(self, repository: str, commit: str) -> frozenset[str]:
        return frozenset(
            each["name"] for each in await self._statuses(repository, commit) if _state(each) == "failed"
        )

    async def _checks(
        self, repository: str, commits: Sequence[str], known: frozenset[str]
    ) -> Sequence[CheckReport]:
        found: list[CheckReport] = []
        for commit in commits:
            for each in await self._statuses(repository, commit):
                name, state = str(each["name"]), _state(each)
                told = state == "failed" and name not in known
                found.append(CheckReport(name, state, await self._excerpt(repository, each) if told else ""))
        return found

    async def _statuses(self, repository: str, commit: str) -> list[dict[str, Any]]:
        """Return the newest state of each job and of each external check of a commit."""
        every = await self._api.every(f"{project_path(repository)}/repository/commits/{commit}/statuses")
        return [each for each in every if each["name"] != STATUS_NAME]

    async def _excerpt(self, repository: str, status: Mapping[str, Any]) -> str:
        """Return why a check failed: the log of a job, or what an external check says."""
        path = f"{project_path(repository)}/jobs/{status['id']}/trace"
        try:
            log = failing_part(await self._api.text(path, _MAX_LOG_BYTES))
        except ForgeError:
            log = ""  # it is no job, its log expired, or the token may not read it
        return log or str(status.get("description") or "")


def _place(repository: str, number: int) -> str:
    return f"{project_path(repository)}/merge_requests/{number}"


def _is_decided(found: Mapping[str, Any]) -> bool:
    return found.get("detailed_merge_status", found.get("merge_status")) not in _UNDECIDED


def _tested(found: Mapping[str, Any]) -> list[str]:
    """Return the commits whose checks count: the head, and what a pipeline for merged results has merged."""
    pipeline: Mapping[str, Any] = found.get("head_pipeline") or {}
    return list(dict.fromkeys([str(found["sha"]), str(pipeline.get("sha") or found["sha"])]))


def _state(status: Mapping[str, Any]) -> Literal["pending", "passed", "failed"]:
    if status["status"] in _PENDING:
        return "pending"
    return "failed" if status["status"] == "failed" and not status.get("allow_failure") else "passed"


def _opinion(user: Mapping[str, Any], state: Literal["approved", "changes_requested"]) -> Review:
    return Review(id=user["id"], user=user["username"], state=state, body="")


def _notes_in(discussions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what people wrote; threads that people resolved are done."""
    every = [cast("dict[str, Any]", note) for each in discussions for note in each["notes"]]
    open_ones = [each for each in every if not each["system"] and not each.get("resolved")]
    return [each for each in open_ones if OWN not in (each.get("body") or "")]


def _thread(note: Mapping[str, Any]) -> Review | None:
    """Return a note of a thread that is to be resolved; a comment outside of one asks for nothing."""
    if note.get("position") or not note.get("resolvable") or _request(note):
        return None
    at = datetime.fromisoformat(note["created_at"])
    return Review(note["id"], note["author"]["username"], "commented", note["body"], at)


def _remark(note: Mapping[str, Any]) -> RemarkAtLine | None:
    place: Mapping[str, Any] | None = note.get("position")
    if not place or _request(note):
        return None
    path = str(place.get("new_path") or place.get("old_path") or "")
    return RemarkAtLine(note["id"], note["author"]["username"], path, place.get("new_line"), note["body"])


def _request(note: Mapping[str, Any]) -> Request | None:
    command = command_in(note.get("body") or "")
    asks = command is not None and command[0] == "retry"
    return Request(note["id"], note["author"]["username"], command[1]) if command and asks else None
