"""What the double of GitHub does for each request."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.git_http import TOKEN, run_git

if TYPE_CHECKING:
    from tests.forge_double import GitHubDouble

ACCOUNT = "phaserunner-bot"


def now() -> str:
    """The time as GitHub writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Act = Callable[["GitHubDouble", dict[str, str], dict[str, list[str]], Any], tuple[int, Any]]


def _repository(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, {"full_name": double.repository, "default_branch": "main"}


def _issue(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.issues.get(int(names["number"]))
    return (200, found) if found else (404, {"message": "Not Found"})


def _issues(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    wanted: set[str] = {each for each in query.get("labels", [""])[0].split(",") if each}
    open_ones = [each for each in double.issues.values() if each["state"] == "open"]
    found = [each for each in open_ones if wanted <= {label["name"] for label in each.get("labels", [])}]
    size, page = int(query["per_page"][0]), int(query["page"][0])
    return 200, found[(page - 1) * size : page * size]


def _permission(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.permissions.get(names["user"])
    return (200, {"permission": found}) if found else (404, {"message": "Not Found"})


def _comments(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    every = [each for each in double.comments.values() if each["issue"] == int(names["number"])]
    size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
    return 200, [_shown(each) for each in every[(page - 1) * size : page * size]]


def _comment(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    number = 1000 + len(double.comments)
    made = {
        "id": number,
        "body": body["body"],
        "user": {"login": ACCOUNT},
        "created_at": now(),
        "issue": int(names["number"]),
    }
    double.comments[number] = made
    return 201, _shown(made)


def _edit_comment(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.comments.get(int(names["id"]))
    if found is None:
        return 404, {"message": "Not Found"}
    found["body"] = body["body"]
    return 200, _shown(found)


def _every_comment(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    """List the comments of all issues since a time, the oldest first."""
    since, place = query["since"][0], f"{double.web}/{double.repository}"
    found = [
        {
            **_shown(each),
            "issue_url": f"{double.url}/repos/{double.repository}/issues/{each['issue']}",
            "html_url": f"{place}/{'pull' if each['issue'] in double.pulls else 'issues'}/{each['issue']}",
        }
        for each in double.comments.values()
        if each["created_at"] >= since
    ]
    size, page = int(query["per_page"][0]), int(query["page"][0])
    return 200, found[(page - 1) * size : page * size]


def _events(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    size, page = int(query["per_page"][0]), int(query["page"][0])
    return 200, double.events[::-1][(page - 1) * size : page * size]


def _shown(comment: dict[str, Any]) -> dict[str, Any]:
    return _without(comment, "issue")


def _without(fields: dict[str, Any], own: str) -> dict[str, Any]:
    """Leave out what only the double needs."""
    return {name: value for name, value in fields.items() if name != own}


def _pulls(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    branch = query["head"][0].partition(":")[2]
    found = [each for each in reversed(double.pulls.values()) if each["head"]["ref"] == branch]
    return 200, [_without(each, "mergeable") for each in found]


def _open_pull(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    commit = double.head_of(body["head"])
    if commit is None:
        return 422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]}
    if any(p["head"]["ref"] == body["head"] and p["state"] == "open" for p in double.pulls.values()):
        said = [{"message": f"A pull request already exists for {body['head']}."}]
        return 422, {"message": "Validation Failed", "errors": said}
    number = 100 + len(double.pulls)
    double.pulls[number] = {
        "number": number,
        "mergeable": None,
        "html_url": f"{double.web}/{double.repository}/pull/{number}",
        "node_id": f"PR_{number}",
        "state": "open",
        "draft": body["draft"],
        "title": body["title"],
        "body": body["body"],
        "head": {"ref": body["head"], "sha": commit},
        "base": {"ref": body["base"]},
        "merged_at": None,
        "closed_at": None,
        "updated_at": now(),
    }
    return 201, double.pulls[number]


def _pull(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.pulls.get(int(names["number"]))
    if found is None:
        return 404, {"message": "Not Found"}
    target, head = double.head_of(found["base"]["ref"]), double.head_of(found["head"]["ref"])
    if head is not None and found["state"] == "open":
        found["head"]["sha"] = head
        found["mergeable"] = _merges(double.bare, str(target), head)
    return 200, found


def _merges(bare: Path, target: str, head: str) -> bool:
    done = subprocess.run(
        ["git", "merge-tree", "--write-tree", target, head], cwd=bare, capture_output=True, check=False
    )
    return done.returncode == 0


def _branch(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    commit = double.head_of(unquote(names["branch"]))
    return (200, {"commit": {"sha": commit}}) if commit else (404, {"message": "Branch not found"})


def _compare(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    base = run_git(double.bare, "merge-base", names["base"], names["head"])
    return 200, {"merge_base_commit": {"sha": base}}


def _commits(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    size, page = int(query["per_page"][0]), int(query["page"][0])
    chosen = [f"--since={query['since'][0]}", f"--skip={(page - 1) * size}", f"--max-count={size}"]
    listed = run_git(double.bare, "log", *chosen, "--format=%H%x1f%cI%x1f%B%x1e", query["sha"][0])
    found = [each.strip().split("\x1f") for each in listed.split("\x1e") if each.strip()]
    return 200, [
        {"sha": sha, "commit": {"message": message.strip(), "committer": {"date": at}}}
        for sha, at, message in found
    ]


def _check_runs(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    wanted = query.get("check_name", [None])[0]
    found = [each for each in double.checks.get(names["sha"], []) if wanted in (None, each["name"])]
    return 200, {"total_count": len(found), "check_runs": [_shown_check(each) for each in found]}


def _shown_check(run: dict[str, Any]) -> dict[str, Any]:
    output = dict(run["output"])
    notes = output.pop("annotations", None)
    return {**run, "output": output if notes is None else {**output, "annotations_count": len(notes)}}


def _annotations(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    every = [each for runs in double.checks.values() for each in runs]
    found = next(each for each in every if each["id"] == int(names["id"]))
    return 200, found["output"].get("annotations", [])


def _new_check_run(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    if not double.is_app:
        return 403, {"message": "You must authenticate via a GitHub App."}
    made = {"id": 6000 + sum(map(len, double.checks.values())), **body}
    double.checks.setdefault(body["head_sha"], []).append(made)
    return 201, _shown_check(made)


def _edit_check_run(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    every = [each for runs in double.checks.values() for each in runs]
    found = next(each for each in every if each["id"] == int(names["id"]))
    found.update(body)
    return 200, _shown_check(found)


def _installations(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, [{"id": each, "account": {"login": f"org{each}"}} for each in double.installations]


def _access_token(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    if int(names["id"]) not in double.installations:
        return 404, {"message": "Integration not found"}
    ends = datetime.now(UTC) + double.token_lives
    return 201, {"token": TOKEN, "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}


def _combined(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = [each for each in double.statuses if each["sha"] == names["sha"]]
    newest = {each["context"]: each for each in found}
    shown = [_without(each, "sha") for each in newest.values()]
    return 200, {"state": "success", "statuses": shown}


def _log(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 302, f"{double.url}/stored-logs/{names['id']}"


def _reviews(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, [_without(each, "pull") for each in double.reviews if each["pull"] == int(names["number"])]


def _remarks(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, [_without(each, "pull") for each in double.remarks if each["pull"] == int(names["number"])]


def _edit_pull(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    double.pulls[int(names["number"])] |= {**body, "updated_at": now()}
    return 200, double.pulls[int(names["number"])]


def _status(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    double.statuses.append({"sha": names["sha"], **body})
    return 201, {"state": body["state"], "context": body["context"]}


def _graphql(double: "GitHubDouble", names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    if "viewer" in body["query"]:
        return 200, {"data": {"viewer": {"login": ACCOUNT}}}
    found = next(each for each in double.pulls.values() if each["node_id"] == body["variables"]["id"])
    assert "markPullRequestReadyForReview" in body["query"]
    found["draft"] = False
    return 200, {"data": {"markPullRequestReadyForReview": {"pullRequest": {"isDraft": False}}}}


ROUTES: list[tuple[str, str, Act]] = [
    ("GET", "REPO", _repository),
    ("GET", "REPO/issues", _issues),
    ("GET", r"REPO/issues/(?P<number>\d+)", _issue),
    ("GET", "REPO/issues/comments", _every_comment),
    ("GET", "REPO/issues/events", _events),
    ("GET", r"REPO/collaborators/(?P<user>[^/]+)/permission", _permission),
    ("GET", r"REPO/issues/(?P<number>\d+)/comments", _comments),
    ("POST", r"REPO/issues/(?P<number>\d+)/comments", _comment),
    ("PATCH", r"REPO/issues/comments/(?P<id>\d+)", _edit_comment),
    ("GET", "REPO/pulls", _pulls),
    ("POST", "REPO/pulls", _open_pull),
    ("GET", r"REPO/pulls/(?P<number>\d+)", _pull),
    ("GET", r"REPO/pulls/(?P<number>\d+)/reviews", _reviews),
    ("GET", r"REPO/pulls/(?P<number>\d+)/comments", _remarks),
    ("GET", r"REPO/branches/(?P<branch>[^/]+)", _branch),
    ("GET", r"REPO/compare/(?P<base>[0-9a-f]+)\.\.\.(?P<head>[0-9a-f]+)", _compare),
    ("GET", "REPO/commits", _commits),
    ("GET", r"REPO/commits/(?P<sha>[0-9a-f]+)/check-runs", _check_runs),
    ("POST", "REPO/check-runs", _new_check_run),
    ("PATCH", r"REPO/check-runs/(?P<id>\d+)", _edit_check_run),
    ("GET", r"REPO/check-runs/(?P<id>\d+)/annotations", _annotations),
    ("GET", "/app/installations", _installations),
    ("POST", r"/app/installations/(?P<id>\d+)/access_tokens", _access_token),
    ("GET", r"REPO/commits/(?P<sha>[0-9a-f]+)/status", _combined),
    ("GET", r"REPO/actions/jobs/(?P<id>\d+)/logs", _log),
    ("PATCH", r"REPO/pulls/(?P<number>\d+)", _edit_pull),
    ("POST", r"REPO/statuses/(?P<sha>[0-9a-f]+)", _status),
    ("POST", "/graphql", _graphql),
]
