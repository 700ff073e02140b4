"""A double of GitHub: keeps issues, comments, pull requests and statuses, and fails when it is told to.

It listens on loopback. `exchanges` holds what was asked and answered, for checks against GitHub's own
description of its interface.
"""

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt

from tests.forge_double_routes import ROUTES, now
from tests.forge_double_server import Handler
from tests.git_http import TOKEN, run_git

SECRET = "secret-of-the-webhook"


@dataclass
class Fault:
    """What goes wrong at the next request that fits.

    Attributes:
        method: of the request.
        path: regular expression that its path must match.
        status: of the answer; 0 acts and then ends the connection without one.
        headers: of the answer.
        seconds: wait so long before.
        message: what the answer says.
    """

    method: str
    path: str
    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    message: str = "told to fail"


@dataclass(frozen=True)
class Exchange:
    """One request and its answer. `query` holds the names of its parameters."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any
    query: frozenset[str] = frozenset()


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
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
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

    def synchronized(self, number: int) -> dict[str, Any]:
        """The delivery that tells of a pull request's new head."""
        return {
            "action": "synchronize",
            "number": number,
            "pull_request": self.pulls[number],
            "repository": {"full_name": self.repository},
            "sender": {"login": "ada"},
        }

    def merge(self, number: int, method: str = "merge") -> dict[str, Any]:
        """Merge a pull request as a person would; gives the delivery that tells of it.

        Args:
            number: of the pull request.
            method: `merge`, `squash` or `rebase`, or `forward`, which moves the target to the branch.
        """
        pull = self.pulls[number]
        assert not pull["draft"]
        head, target = str(self.head_of(pull["head"]["ref"])), pull["base"]["ref"]
        commits = run_git(self.bare, "rev-list", "--reverse", f"{target}..{head}").split()
        made = merged_by(self.bare, method, str(self.head_of(target)), head, commits)
        run_git(self.bare, "update-ref", f"refs/heads/{target}", made)
        pull["head"]["sha"] = head
        pull |= {"merge_commit_sha": made, "commits": len(commits)}
        return self.ended(number, merged=True)

    def ended(self, number: int, *, merged: bool) -> dict[str, Any]:
        """Close a pull request; gives the delivery that tells of it."""
        pull = self.pulls[number]
        pull |= {"state": "closed", "closed_at": now(), "updated_at": now()}
        if merged:
            pull["merged_at"] = now()
        return {
            "action": "closed",
            "number": number,
            "pull_request": {**pull, "merged": merged},
            "repository": {"full_name": self.repository},
            "sender": {"login": "ada"},
        }

    def pushed(self, branch: str, *messages: str) -> dict[str, Any]:
        """The delivery that tells of pushed commits."""
        return {
            "ref": f"refs/heads/{branch}",
            "commits": [{"message": each} for each in messages],
            "repository": {"full_name": self.repository},
        }

    def next_fault(self, method: str, path: str) -> Fault | None:
        """Take the first fault that a request shall have."""
        with self.lock:
            for each in self.faults:
                if each.method == method and re.search(each.path, path):
                    self.faults.remove(each)
                    return each
        return None

    def note(self, method: str, path: str, body: Any, status: int, answer: Any) -> None:
        """Remember a request and its answer."""
        self.exchanges.append(Exchange(method, path, body, status, answer))

    def labeled(self, number: int, label: str, user: str = "ada") -> dict[str, Any]:
        """Add a label as a person would; gives the delivery that tells of it."""
        self.issues[number]["updated_at"] = now()
        made = {"id": 4000 + len(self.events), "event": "labeled", "created_at": now()}
        made |= {"actor": {"login": user}, "label": {"name": label}, "issue": self.issues[number]}
        self.events.append(made)
        return {
            "action": "labeled",
            "issue": self.issues[number],
            "label": {"name": label},
            "repository": {"full_name": self.repository},
            "sender": {"login": user},
        }

    def commented(self, number: int, body: str, user: str = "ada") -> dict[str, Any]:
        """Write a comment as a person would; gives the delivery that tells of it."""
        made = {
            "id": 1000 + len(self.comments),
            "body": body,
            "user": {"login": user},
            "created_at": now(),
            "issue": number,
        }
        self.comments[made["id"]] = made
        return {
            "action": "created",
            "issue": self.issues[number],
            "comment": {name: made[name] for name in ("id", "body", "user", "created_at")},
            "repository": {"full_name": self.repository},
            "sender": {"login": user},
        }

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        """Do what a request asks for."""
        with self.lock:
            for verb, pattern, act in ROUTES:
                found = re.fullmatch(pattern.replace("REPO", re.escape(f"/repos/{self.repository}")), path)
                if verb == method and found:
                    return act(self, found.groupdict(), query, body)
        return 404, {"message": "Not Found"}

    def head_of(self, branch: str) -> str | None:
        """The commit of a branch of the repository."""
        found = run_git(self.bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found or None


def merged_by(bare: Path, method: str, target: str, head: str, commits: list[str]) -> str:
    """Make what a merge leaves on its target; give the newest commit."""
    if method == "forward":
        return head
    if method == "rebase":
        made = target
        for each in commits:
            # git merges what stands on the commit before, as a rebase would.
            stand_in = run_git(bare, "commit-tree", f"{made}^{{tree}}", "-p", f"{each}^", "-m", "Stand-in")
            tree = run_git(bare, "merge-tree", "--write-tree", stand_in, each)
            made = run_git(bare, "commit-tree", tree, "-p", made, "-m", f"Rebased {each}")
        return made
    tree = run_git(bare, "merge-tree", "--write-tree", target, head)
    parents = ["-p", target] if method == "squash" else ["-p", target, "-p", head]
    return run_git(bare, "commit-tree", tree, *parents, "-m", "Merge a pull request")


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

    class Serving(Handler):
        state = double

    server = ThreadingHTTPServer(("127.0.0.1", 0), Serving)
    double.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
