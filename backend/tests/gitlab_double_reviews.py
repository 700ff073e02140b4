"""What the double of GitLab answers about branches, jobs, and the review of a merge request."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.git_http import run_git

if TYPE_CHECKING:
    from tests.gitlab_double import GitLabDouble

USERS = {"ada": (1, 40), "eve": (2, 20)}
"""Number and access level of each user."""

Answer = tuple[int, Any]
_MISSING: Answer = (404, {"message": "404 Not found"})


def now() -> str:
    """Return the time as GitLab writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def account(user: str) -> dict[str, Any]:
    """Return a user as GitLab shows it."""
    return {"id": USERS[user][0], "username": user}


def answer_of_repository(double: "GitLabDouble", parts: list[str], query: dict[str, list[str]]) -> Answer:
    """Answer about branches, commits and logs of jobs."""
    match parts:
        case ["jobs", number, "trace"]:
            log = double.traces.get(int(number))
            return (200, log) if log else _MISSING
        case ["repository", "branches", name]:
            return 200, {"name": unquote(name), "commit": {"id": double.head_of(unquote(name))}}
        case ["repository", "merge_base"]:
            return 200, {"id": run_git(double.bare or Path(), "merge-base", *query["refs[]"])}
        case ["repository", "commits", commit, "statuses"]:
            mine = [each for each in double.statuses if each["sha"] == commit]
            own = [{"id": 1, "name": each["name"], "status": each["state"]} for each in mine[-1:]]
            return 200, [*own, *double.jobs.get(commit, [])]
        case ["repository", "commits"]:
            return 200, []
        case _:
            return _MISSING


def answer_of_merge(double: "GitLabDouble", number: int, what: list[str]) -> Answer:
    """Answer about a merge request and its review."""
    match what:
        case [name] if name in double.missing:
            return _MISSING
        case []:
            return 200, _shown(double, double.merges[number])
        case ["discussions"]:
            return 200, [{"id": f"d{each['id']}", "notes": [each]} for each in double.threads.get(number, [])]
        case ["approvals"]:
            return 200, {"approved_by": [{"user": account(each)} for each in double.approvals]}
        case ["reviewers"]:
            return 200, [{"user": account(each), "state": "requested_changes"} for each in double.objections]
        case _:
            return _MISSING


def _shown(double: "GitLabDouble", merge: dict[str, Any]) -> dict[str, Any]:
    """Show a merge request with what GitLab knows of its branch."""
    if double.bare is None or merge["state"] != "opened":
        return merge
    head, target = double.head_of(merge["source_branch"]), double.head_of(merge["target_branch"])
    command = ["git", "merge-tree", "--write-tree", str(target), str(head)]
    conflicts = subprocess.run(command, cwd=double.bare, capture_output=True, check=False).returncode == 1
    status = double.stands() if double.stands else "conflict" if conflicts else "mergeable"
    has = {"sha": head, "has_conflicts": status == "conflict", "detailed_merge_status": status}
    return {**merge, **has}
