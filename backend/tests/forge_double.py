"""A double of GitHub: keeps issues, comments, pull requests and statuses, and fails when it is told to.

It listens on loopback. `exchanges` holds what was asked and answered, for checks against GitHub's own
description of its interface.
"""

import hashlib
import hmac
import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

import httpx
import jwt

from tests.git_http import TOKEN, run_git

SECRET = "secret-of-the-webhook"
ACCOUNT = "phaserunner-bot"


@dataclass
class Fault:
    """What goes wrong at the next request that fits.

    Attributes:
        method: of the request.
        path: regular expression that its path must match.
        status: of the answer; 0 acts and then ends the connection without one.
        headers: of the answer.
        seconds: wait so long before.
    """

    method: str
    path: str
    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0


@dataclass(frozen=True)
class Exchange:
    """One request and its answer."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any


@dataclass
class GitHubDouble:
    """The state of the double. `bare` is the git repository behind `repository`."""

    repository: str
    web: str
    bare: Path
    url: str = ""
    permissions: dict[str, str] = field(default_factory=lambda: {"ada": "write", "eve": "read"})
    issues: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    comments: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    statuses: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    checks: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    logs: dict[int, str] = field(default_factory=dict[int, str])
    reviews: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    remarks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    app_key: Any = None
    token_lives: timedelta = timedelta(hours=1)
    installations: list[int] = field(default_factory=lambda: [42])
    faults: list[Fault] = field(default_factory=list[Fault])
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def is_app(self) -> bool:
        """Whether its account is an App, with the public key `app_key`."""
        return self.app_key is not None

    def lets_in(self, path: str, authorization: str) -> bool:
        """Tell whether a request shows the token; requests of the App itself show what its key signed."""
        if not path.startswith("/app/"):
            return authorization == f"Bearer {TOKEN}"
        try:
            jwt.decode(
                authorization.removeprefix("Bearer "), self.app_key, algorithms=["RS256"], issuer="Iv1.app"
            )
        except jwt.InvalidTokenError:
            return False
        return True

    def add_issue(self, number: int, title: str, body: str) -> dict[str, Any]:
        """Write an issue."""
        url = f"{self.web}/{self.repository}/issues/{number}"
        self.issues[number] = {
            "number": number,
            "title": title,
            "body": body,
            "html_url": url,
            "state": "open",
            "updated_at": now(),
        }
        return self.issues[number]

    def comments_of(self, number: int) -> list[str]:
        """The texts of an issue's comments."""
        return [each["body"] for each in self.comments.values() if each["issue"] == number]

    def check(self, commit: str, name: str, conclusion: str, log: str = "") -> dict[str, Any]:
        """End a check of a commit, with its log; gives the delivery that tells of it."""
        number = 5000 + len(self.logs)
        self.logs[number] = log
        run = {
            "id": number,
            "name": name,
            "head_sha": commit,
            "status": "completed",
            "conclusion": conclusion,
            "app": {"slug": "github-actions"},
            "output": {"title": None, "summary": None, "text": None, "annotations_count": 0},
        }
        others = [each for each in self.checks.get(commit, []) if each["name"] != name]
        self.checks[commit] = [*others, run]
        return {"action": "completed", "check_run": run, "repository": {"full_name": self.repository}}

    def review(
        self, number: int, state: str, body: str, user: str = "ada", remark: Any = None
    ) -> dict[str, Any]:
        """Review a pull request, with a comment at a line if one is given; gives the delivery."""
        made = {
            "id": 7000 + len(self.reviews),
            "pull": number,
            "user": {"login": user},
            "state": state,
            "body": body,
            "submitted_at": now(),
        }
        self.reviews.append(made)
        if remark:
            self.remarks.append(
                {"id": 8000 + len(self.remarks), "pull": number, "user": {"login": user}, **remark}
            )
        return {
            "action": "submitted",
            "pull_request": self.pulls[number],
            "repository": {"full_name": self.repository},
            "sender": {"login": user},
        }

    def merge(self, number: int) -> dict[str, Any]:
        """Merge a pull request as a person would; gives the delivery that tells of it."""
        pull = self.pulls[number]
        assert not pull["draft"]
        pull["head"]["sha"] = self.head_of(pull["head"]["ref"])
        run_git(self.bare, "update-ref", f"refs/heads/{pull['base']['ref']}", pull["head"]["sha"])
        pull |= {"state": "closed", "merged_at": now(), "closed_at": now(), "updated_at": now()}
        return {
            "action": "closed",
            "number": number,
            "pull_request": {**pull, "merged": True},
            "repository": {"full_name": self.repository},
            "sender": {"login": "ada"},
        }

    def labeled(self, number: int, label: str, user: str = "ada") -> dict[str, Any]:
        """The delivery that tells of a label."""
        self.issues[number]["updated_at"] = now()
        return {
            "action": "labeled",
            "issue": self.issues[number],
            "label": {"name": label},
            "repository": {"full_name": self.repository},
            "sender": {"login": user},
        }

    def commented(self, number: int, body: str, user: str = "ada") -> dict[str, Any]:
        """The delivery that tells of a comment."""
        return {
            "action": "created",
            "issue": self.issues[number],
            "comment": {"body": body, "user": {"login": user}, "created_at": now()},
            "repository": {"full_name": self.repository},
            "sender": {"login": user},
        }

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        """Do what a request asks for."""
        with self.lock:
            for verb, pattern, act in _ROUTES:
                found = re.fullmatch(pattern.replace("REPO", re.escape(f"/repos/{self.repository}")), path)
                if verb == method and found:
                    return act(self, found.groupdict(), query, body)
        return 404, {"message": "Not Found"}

    def head_of(self, branch: str) -> str | None:
        """The commit of a branch of the repository."""
        found = run_git(self.bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found or None


def now() -> str:
    """The time as GitHub writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def signed(payload: Any, event: str, *, secret: str = SECRET, delivery: str | None = None) -> httpx.Request:
    """Make the request of a delivery; its URL is that of the endpoint alone."""
    content = json.dumps(payload).encode()
    digest = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery or str(uuid4()),
        "X-Hub-Signature-256": f"sha256={digest}",
    }
    return httpx.Request("POST", "http://x/api/v1/forges/github/webhook", content=content, headers=headers)


@contextmanager
def github_double(repository: str, web: str, bare: Path) -> Generator[GitHubDouble]:
    """Run a double until the block is left."""
    double = GitHubDouble(repository, web, bare)

    class Handler(_Handler):
        state = double

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    double.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


Act = Callable[[GitHubDouble, dict[str, str], dict[str, list[str]], Any], tuple[int, Any]]


def _repository(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, {"full_name": double.repository, "default_branch": "main"}


def _issue(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.issues.get(int(names["number"]))
    return (200, found) if found else (404, {"message": "Not Found"})


def _issues(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    wanted = set(filter(None, query.get("labels", [""])[0].split(",")))
    open_ones = [each for each in double.issues.values() if each["state"] == "open"]
    found = [each for each in open_ones if wanted <= {label["name"] for label in each.get("labels", [])}]
    size, page = int(query["per_page"][0]), int(query["page"][0])
    return 200, found[(page - 1) * size : page * size]


def _permission(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.permissions.get(names["user"])
    return (200, {"permission": found}) if found else (404, {"message": "Not Found"})


def _comments(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    every = [each for each in double.comments.values() if each["issue"] == int(names["number"])]
    size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
    return 200, [_shown(each) for each in every[(page - 1) * size : page * size]]


def _comment(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
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


def _edit_comment(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = double.comments.get(int(names["id"]))
    if found is None:
        return 404, {"message": "Not Found"}
    found["body"] = body["body"]
    return 200, _shown(found)


def _shown(comment: dict[str, Any]) -> dict[str, Any]:
    return _without(comment, "issue")


def _without(fields: dict[str, Any], own: str) -> dict[str, Any]:
    """Leave out what only the double needs."""
    return {name: value for name, value in fields.items() if name != own}


def _pulls(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    branch = query["head"][0].partition(":")[2]
    found = [each for each in reversed(double.pulls.values()) if each["head"]["ref"] == branch]
    return 200, [_without(each, "mergeable") for each in found]


def _open_pull(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
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


def _pull(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
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


def _branch(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    commit = double.head_of(unquote(names["branch"]))
    return (200, {"commit": {"sha": commit}}) if commit else (404, {"message": "Branch not found"})


def _compare(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    base = run_git(double.bare, "merge-base", names["base"], names["head"])
    return 200, {"merge_base_commit": {"sha": base}}


def _check_runs(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    wanted = query.get("check_name", [None])[0]
    found = [each for each in double.checks.get(names["sha"], []) if wanted in (None, each["name"])]
    return 200, {"total_count": len(found), "check_runs": [_shown_check(each) for each in found]}


def _shown_check(run: dict[str, Any]) -> dict[str, Any]:
    output = dict(run["output"])
    notes = output.pop("annotations", None)
    return {**run, "output": output if notes is None else {**output, "annotations_count": len(notes)}}


def _annotations(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    every = [each for runs in double.checks.values() for each in runs]
    found = next(each for each in every if each["id"] == int(names["id"]))
    return 200, found["output"].get("annotations", [])


def _new_check_run(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    if not double.is_app:
        return 403, {"message": "You must authenticate via a GitHub App."}
    made = {"id": 6000 + sum(map(len, double.checks.values())), **body}
    double.checks.setdefault(body["head_sha"], []).append(made)
    return 201, _shown_check(made)


def _edit_check_run(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    every = [each for runs in double.checks.values() for each in runs]
    found = next(each for each in every if each["id"] == int(names["id"]))
    found.update(body)
    return 200, _shown_check(found)


def _installations(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, [{"id": each, "account": {"login": f"org{each}"}} for each in double.installations]


def _access_token(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    if int(names["id"]) not in double.installations:
        return 404, {"message": "Integration not found"}
    ends = datetime.now(UTC) + double.token_lives
    return 201, {"token": TOKEN, "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}


def _combined(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    found = [each for each in double.statuses if each["sha"] == names["sha"]]
    newest = {each["context"]: each for each in found}
    shown = [_without(each, "sha") for each in newest.values()]
    return 200, {"state": "success", "statuses": shown}


def _log(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 302, f"{double.url}/stored-logs/{names['id']}"


def _reviews(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, [_without(each, "pull") for each in double.reviews if each["pull"] == int(names["number"])]


def _remarks(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    return 200, [_without(each, "pull") for each in double.remarks if each["pull"] == int(names["number"])]


def _edit_pull(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    double.pulls[int(names["number"])] |= {**body, "updated_at": now()}
    return 200, double.pulls[int(names["number"])]


def _status(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    double.statuses.append({"sha": names["sha"], **body})
    return 201, {"state": body["state"], "context": body["context"]}


def _graphql(double: GitHubDouble, names: dict[str, str], query: Any, body: Any) -> tuple[int, Any]:
    if "viewer" in body["query"]:
        return 200, {"data": {"viewer": {"login": ACCOUNT}}}
    found = next(each for each in double.pulls.values() if each["node_id"] == body["variables"]["id"])
    assert "markPullRequestReadyForReview" in body["query"]
    found["draft"] = False
    return 200, {"data": {"markPullRequestReadyForReview": {"pullRequest": {"isDraft": False}}}}


_ROUTES: list[tuple[str, str, Act]] = [
    ("GET", "REPO", _repository),
    ("GET", "REPO/issues", _issues),
    ("GET", r"REPO/issues/(?P<number>\d+)", _issue),
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: GitHubDouble

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body: Any = json.loads(content) if content else None
        fault = self._fault(parts.path)
        if fault is not None and fault.seconds:
            time.sleep(fault.seconds)
        if fault is not None and fault.status:
            self._send(fault.status, {"message": "told to fail"}, fault.headers)
            return
        if parts.path.startswith("/stored-logs/"):
            # Logs lie on another server, which must not see the token.
            assert "Authorization" not in self.headers
            self._send_text(self.state.logs[int(parts.path.rpartition("/")[2])])
            return
        if not self.state.lets_in(parts.path, self.headers.get("Authorization", "")):
            self._send(401, {"message": "Bad credentials"}, {})
            return
        status, answer = self.state.answer(self.command, parts.path, parse_qs(parts.query), body)
        self.state.exchanges.append(Exchange(self.command, parts.path, body, status, answer))
        if fault is not None and fault.seconds == 0:
            self.close_connection = True
            return
        self._send(status, answer, {"Location": answer} if status == 302 else {})

    def _send_text(self, text: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _fault(self, path: str) -> Fault | None:
        with self.state.lock:
            for each in self.state.faults:
                if each.method == self.command and re.search(each.path, path):
                    self.state.faults.remove(each)
                    return each
        return None

    def _send(self, status: int, answer: Any, headers: dict[str, str]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
