"""A double of GitLab over HTTP: issues, notes, merge requests, discussions, and statuses of one project.

`exchanges` holds what was asked and answered, for checks against a published description of the interface.
"""

import json
import re
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.forge_double import Exchange, merged_by
from tests.git_http import TOKEN, run_git
from tests.gitlab_double_reviews import USERS, account, answer_of_merge, answer_of_repository, now

ACCOUNT = "phaserunner-bot"
Answer = tuple[int, Any]


@dataclass
class GitLabDouble:
    """The state of the double.

    Attributes:
        failures: statuses that the next requests get, with their headers.
        bare: the git repository behind the project, if there is one.
        jobs: jobs and external statuses, by commit.
        traces: logs, by number of the job.
        threads: notes of discussions, by number of the merge request.
        approvals: who approves.
        objections: who asks for changes.
        stands: tells the `detailed_merge_status`; by default git does.
        missing: parts of merge requests that this version does not know.
    """

    project: str
    bare: Path | None = None
    url: str = ""
    issues: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    notes: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    merges: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    label_events: dict[int, list[dict[str, Any]]] = field(default_factory=dict[int, list[dict[str, Any]]])
    statuses: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    jobs: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    traces: dict[int, str] = field(default_factory=dict[int, str])
    threads: dict[int, list[dict[str, Any]]] = field(default_factory=dict[int, list[dict[str, Any]]])
    approvals: list[str] = field(default_factory=list[str])
    objections: list[str] = field(default_factory=list[str])
    stands: Callable[[], str] | None = None
    missing: tuple[str, ...] = ()
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    failures: list[tuple[int, dict[str, str]]] = field(default_factory=list[tuple[int, dict[str, str]]])

    def add_issue(self, number: int, title: str, *labels: str) -> None:
        """Write an issue."""
        self.issues[number] = {
            "iid": number,
            "title": title,
            "description": "Please.",
            "state": "opened",
            "labels": list(labels),
            "web_url": f"https://gitlab.example/{self.project}/-/issues/{number}",
        }

    def head_of(self, branch: str) -> str | None:
        """Return the commit of a branch."""
        assert self.bare is not None
        found = run_git(self.bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found or None

    def job(self, commit: str, name: str, status: str, log: str = "", **more: Any) -> dict[str, Any]:
        """End a job of a commit, with its log; gives the delivery that tells of the pipeline."""
        number = 5000 + len(self.traces)
        self.traces[number] = log
        made = {"id": number, "sha": commit, "name": name, "status": status, "allow_failure": False, **more}
        others = [each for each in self.jobs.get(commit, []) if each["name"] != name]
        self.jobs[commit] = [*others, made]
        return self.told(sha=commit, status=status, ref="x")

    def note(self, number: int, body: str, user: str = "ada", **more: Any) -> dict[str, Any]:
        """Write in a thread of a merge request, at a line if `position` is given; gives the delivery."""
        made: dict[str, Any] = {
            "id": 7000 + len(self.threads.get(number, [])),
            "type": "DiffNote" if "position" in more else "DiscussionNote",
            "body": body,
            "author": account(user),
            "created_at": now(),
            "system": False,
            "noteable_type": "MergeRequest",
            "noteable_iid": number,
            "resolvable": True,
            "resolved": False,
            **more,
        }
        self.threads.setdefault(number, []).append(made)
        said = self.told(user, id=made["id"], note=body, noteable_type="MergeRequest", action="create")
        return said | {"merge_request": {"iid": number}}

    def moved(self, number: int) -> dict[str, Any]:
        """Give the delivery that tells of a merge request's new head."""
        return self.told(iid=number, action="update", oldrev="0" * 40)

    def merge(self, number: int) -> dict[str, Any]:
        """Merge a merge request as a person would; gives the delivery that tells of it."""
        merge = self.merges[number]
        assert self.bare is not None
        target, head = merge["target_branch"], str(self.head_of(merge["source_branch"]))
        made = merged_by(self.bare, "merge", str(self.head_of(target)), head, [])
        run_git(self.bare, "update-ref", f"refs/heads/{target}", made)
        merge |= {"state": "merged", "merged_at": now(), "merge_commit_sha": made, "sha": head}
        return self.told(iid=number, action="merge")

    def told(self, user: str = "ada", **attributes: Any) -> dict[str, Any]:
        """Give a delivery."""
        at = now()
        return {
            "user": {"username": user},
            "project": {"path_with_namespace": self.project},
            "object_attributes": {"state": "opened", "updated_at": at, "created_at": at, **attributes},
        }

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        """Do what a request asks for."""
        if path.startswith("/user"):
            return 200, _user(path, query)
        project = re.fullmatch(r"/projects/([^/]+)(/.*)?", path)
        if project is None or unquote(project[1]) != self.project:
            return 404, {"message": "404 Project Not Found"}
        parts = (project[2] or "").strip("/").split("/")
        match method, parts:
            case "GET", [""]:
                return 200, {"default_branch": "main"}
            case "GET", ["members" | "events", *rest]:
                levels = dict(USERS.values())
                return 200, {"access_level": levels[int(rest[1])]} if rest else self.events[::-1]
            case "POST", ["statuses", commit]:
                made = {"id": 6000 + len(self.statuses), "sha": commit, "name": body["name"]}
                self.statuses.append({"sha": commit, **body})
                return 201, made | {"status": body["state"]}
            case "GET", ["jobs" | "repository", *_]:
                return answer_of_repository(self, parts, query)
            case _, [kind, *rest]:
                return self._of(kind, method, rest, query, body)
            case _:
                return 404, {"error": "404 Not Found"}

    def _of(
        self, kind: str, method: str, rest: list[str], query: dict[str, list[str]], body: Any
    ) -> tuple[int, Any]:
        match rest:
            case [number, "notes", *note]:
                noteable = "Issue" if kind == "issues" else "MergeRequest"
                place = {"noteable_type": noteable, "noteable_iid": int(number)}
                return self._notes(method, place, note, body)
            case _:
                act = self._issues if kind == "issues" else self._merges
                return act(method, rest, query, body)

    def _issues(
        self, method: str, rest: list[str], query: dict[str, list[str]], body: Any
    ) -> tuple[int, Any]:
        match method, rest:
            case "GET", []:
                wanted = set(filter(None, query.get("labels", [""])[0].split(",")))
                return 200, [each for each in self.issues.values() if wanted <= set(each["labels"])]
            case "GET", [number]:
                found = self.issues.get(int(number))
                return (200, found) if found else (404, {"message": "404 Not found"})
            case "GET", [number, "resource_label_events"]:
                return 200, self.label_events.get(int(number), [])
            case _:
                return 404, {"message": "404 Not found"}

    def _notes(self, method: str, place: dict[str, Any], rest: list[str], body: Any) -> tuple[int, Any]:
        here = {number: each for number, each in self.notes.items() if place.items() <= each.items()}
        match method, rest:
            case "GET", []:
                return 200, list(here.values())
            case "POST", []:
                number = 900 + len(self.notes)
                author = {"username": ACCOUNT}
                self.notes[number] = {"id": number, "body": body["body"], "author": author, **place}
                return 201, self.notes[number]
            case "PUT", [number] if int(number) in here:
                self.notes[int(number)]["body"] = body["body"]
                return 200, self.notes[int(number)]
            case _:
                return 404, {"message": "404 Not found"}

    def _merges(
        self, method: str, rest: list[str], query: dict[str, list[str]], body: Any
    ) -> tuple[int, Any]:
        match method, rest:
            case "GET", []:
                branch = query["source_branch"][0]
                return 200, [each for each in self.merges.values() if each["source_branch"] == branch]
            case "POST", []:
                own = (each for each in self.merges.values() if each["source_project_id"] == 1)
                if any(each["source_branch"] == body["source_branch"] for each in own):
                    return 409, {"message": ["Another open merge request already exists"]}
                number = 1 + len(self.merges)
                draft = body["title"].startswith("Draft: ")
                url = f"https://gitlab.example/{self.project}/-/merge_requests/{number}"
                state = {"iid": number, "state": "opened", "draft": draft, "web_url": url}
                state |= {"source_project_id": 1, "target_project_id": 1}
                self.merges[number] = {**body, **state}
                return 201, self.merges[number]
            case "GET", [number, *what]:
                return answer_of_merge(self, int(number), what)
            case "PUT", [number]:
                found = self.merges[int(number)]
                found |= body
                found["draft"] = found["title"].startswith("Draft: ")
                return 200, found
            case _:
                return 404, {"message": "404 Not found"}


def _user(path: str, query: dict[str, list[str]]) -> Any:
    if path == "/user":
        return {"username": ACCOUNT}
    found = USERS.get(query["username"][0])
    return [{"id": found[0]}] if found else []


@contextmanager
def gitlab_double(project: str, bare: Path | None = None) -> Generator[GitLabDouble]:
    """Run a double until the block is left."""
    double = GitLabDouble(project, bare)

    class Handler(_Handler):
        state = double

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    double.url = f"http://127.0.0.1:{server.server_port}/api/v4"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    state: GitLabDouble

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body: Any = json.loads(content) if content else None
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(401, {"message": "401 Unauthorized"}, {})
        elif self.state.failures:
            status, headers = self.state.failures.pop(0)
            self._send(status, {"message": "told to fail"}, headers)
        else:
            path = parts.path.removeprefix("/api/v4")
            status, answer = self.state.answer(self.command, path, parse_qs(parts.query), body)
            self.state.exchanges.append(
                Exchange(self.command, path, body, status, answer, frozenset(parse_qs(parts.query)))
            )
            self._send(status, answer, {})

    do_GET = do_POST = do_PUT = _serve

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass

    def _send(self, status: int, answer: Any, headers: dict[str, str]) -> None:
        content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
