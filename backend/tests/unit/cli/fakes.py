"""A service that lives in memory and speaks the REST API, and a terminal that remembers."""

import io
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
from rich.console import Console

from app.cli.main import run
from app.cli.root import Root
from app.client.events import Reset
from app.core.config import Settings
from app.core.websocket_events import EVENT_ADAPTER, Event
from app.schemas.api.escalations import EscalationView
from app.schemas.api.policies import PolicyView
from app.schemas.api.run_details import RunDetail
from app.schemas.runs import RunPolicy
from tests.unit.cli.reports import FakeJudging

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
URL = "http://127.0.0.1:8000"

EVALUATION = {
    "id": UUID(int=7),
    "evaluator": "pytest",
    "version": "1",
    "category": "functionality",
    "gate": True,
    "status": "failed",
    "passed": False,
    "score": 0.5,
    "feedback": "1 of 2 tests failed\n\x1b[31massert half(8) == 4\x1b[0m\nassert 2 == 4",
    "criteria": [],
    "suggestions": ["test_half: assert 2 == 4"],
    "metadata": {},
    "duration_ms": 1200,
    "trace_id": None,
    "evaluated_at": "2026-11-21T12:00:00Z",
}
PHASE = {"phase": "coding", "status": "waiting", "attempts": 1, "max_attempts": 3, "score": 0.5}


def sprint_detail(sprint_id: UUID | None = None, **changes: Any) -> RunDetail:
    """A sprint as the service describes it."""
    document: dict[str, Any] = {
        "id": sprint_id or uuid4(),
        "kind": "sprint",
        "name": "Teatime",
        "goal": "Read hours",
        "status": "active",
        "status_reason": "",
        "phase": "coding",
        "attempt": 1,
        "max_attempts": 3,
        "agent": "pydantic-ai",
        "scripted": False,
        "usage": {},
        "escalation_id": None,
        "created_by": "local",
        "created_at": NOW,
        "updated_at": NOW,
        "started_at": NOW,
        "finished_at": None,
        "source": {"kind": "empty"},
        "policy": PolicyView.of(RunPolicy()),
        "base_commit": "b" * 40,
        "head_commit": "",
        "last_sequence": 0,
        "phases": [],
        "attempts": [],
        "escalations": [],
    }
    return RunDetail.model_validate(document | changes)


def escalation_view(**changes: Any) -> EscalationView:
    """An open escalation."""
    document: dict[str, Any] = {
        "id": uuid4(),
        "run_id": uuid4(),
        "run_name": "Teatime",
        "kind": "sprint",
        "phase": "coding",
        "attempt": 3,
        "reason_kind": "attempts_exhausted",
        "reason": "3 of 3 attempts failed",
        "status": "open",
        "decision": None,
        "guidance": "",
        "line_comments": [],
        "additional_attempts": 0,
        "decided_by": None,
        "decided_at": None,
        "version": 4,
        "created_at": NOW,
    }
    return EscalationView.model_validate(document | changes)


def attempt_view(**changes: Any) -> dict[str, Any]:
    """An attempt as the service describes it."""
    return {
        "id": uuid4(),
        "phase": "coding",
        "number": 1,
        "status": "failed",
        "verdict": "failed",
        "verdict_reason": "Failed: pytest",
        "score": 0.5,
        "output": "done",
        "base_commit": "b" * 40,
        "head_commit": "c" * 40,
        "changed_files": ["a.py"],
        "usage": {},
        "agent_failures": 0,
        "evaluation_failures": 0,
        "lost_workers": 0,
        "last_error": "",
        "trace_id": None,
        "started_at": NOW,
        "produced_at": NOW,
        "completed_at": NOW,
        "evaluations": [],
    } | changes


class Story:
    """Writes the events of one run."""

    def __init__(self, run_id: UUID | None = None) -> None:
        self.run_id = run_id or uuid4()
        self.events: list[Event] = []

    def tell(
        self, event: str, data: dict[str, Any], phase: str | None = None, attempt: int | None = None
    ) -> Event:
        """Add an event with the next number."""
        written = EVENT_ADAPTER.validate_python(
            {
                "event": event,
                "run_id": self.run_id,
                "sequence": len(self.events) + 1,
                "timestamp": NOW,
                "phase": phase,
                "attempt": attempt,
                "data": data,
            }
        )
        self.events.append(written)
        return written

    def begin(self, *, scripted: bool = False, agent: str = "pydantic-ai", kind: str = "sprint") -> None:
        """The run is created and coding begins."""
        created = {
            "kind": kind,
            "name": "Teatime",
            "goal": "Read hours",
            "phases": ["coding"],
            "max_attempts": 3,
            "agent": agent,
            "scripted": scripted,
            "source": "/home/me/project",
            "base_commit": "b" * 40,
        }
        self.tell("run.created", created)
        self.tell("workflow.started", {"phases": ["coding"]})
        self.tell("phase.started", {"max_attempts": 3}, "coding")

    def attempt(self, number: int, *, passed: bool, feedback: str = "") -> None:
        """The agent works, and one gate judges."""
        here = ("coding", number)
        self.tell("attempt.started", {"prompt_chars": 10, "base_commit": "b" * 40}, *here)
        self.tell("tool.called", {"tool": "write_file", "text": "tea/duration.py"}, *here)
        produced = {
            "commit": "c" * 40,
            "output": "done",
            "changed_files": ["tea/duration.py"],
            "usage": {},
            "agent": "pydantic-ai",
        }
        self.tell("attempt.produced", produced, *here)
        self.tell("evaluation.started", {"evaluators": ["ruff_lint", "pytest"]}, *here)
        verdict = verdict_data("pytest", passed=passed, feedback=feedback)
        self.tell("evaluator.completed", verdict, *here)
        completed = {
            "phase": "coding",
            "attempt": number,
            "overall_passed": passed,
            "evaluations": [verdict],
            "score": 1.0 if passed else 0.4,
            "reason": "Every gate holds" if passed else "Failed: pytest",
        }
        self.tell("evaluation.completed", completed, *here)

    def escalate(self, reason: str = "3 of 3 attempts failed", kind: str = "attempts_exhausted") -> UUID:
        """A person is asked."""
        escalation_id = uuid4()
        data = {"escalation_id": escalation_id, "reason_kind": kind, "reason": reason}
        self.tell("escalation.required", data, "coding", 3)
        self.tell("workflow.status", {"status": "waiting", "reason": reason}, "coding", 3)
        return escalation_id

    def complete(self) -> None:
        """The run has passed."""
        self.tell("phase.completed", {"attempts": 2, "commit": "c" * 40}, "coding", 2)
        self.tell("workflow.completed", {"commit": "c" * 40, "attempts": 2, "usage": {}})


def verdict_data(name: str, *, passed: bool, feedback: str = "", **more: Any) -> dict[str, Any]:
    """One evaluator's verdict as events carry it."""
    status = "passed" if passed else "failed"
    score = 1.0 if passed else 0.4
    shared = {"evaluator_name": name, "category": "functionality", "feedback": feedback, "gate": True}
    return shared | {"passed": passed, "score": score, "status": status, "duration_ms": 1200} | more


Handler = Callable[[httpx.Request], httpx.Response]


def problem(status: int, detail: str, **more: Any) -> httpx.Response:
    """An error as the service tells it."""
    document = {"type": "about:blank", "title": "Problem", "status": status, "detail": detail} | more
    return httpx.Response(status, json=document, headers={"Content-Type": "application/problem+json"})


@dataclass
class FakeService:
    """The sprints, escalations and events of a service, over HTTP without a network."""

    sprints: list[RunDetail] = field(default_factory=list[RunDetail])
    escalations: list[EscalationView] = field(default_factory=list[EscalationView])
    stories: dict[UUID, Story] = field(default_factory=dict[UUID, Story])
    routes: dict[tuple[str, str], Handler] = field(default_factory=dict[tuple[str, str], Handler])
    requests: list[httpx.Request] = field(default_factory=list[httpx.Request])
    page_size: int = 100

    def add(self, story: Story, **changes: Any) -> RunDetail:
        """Add a sprint with its events."""
        sprint = sprint_detail(story.run_id, last_sequence=len(story.events), **changes)
        self.sprints.append(sprint)
        self.stories[sprint.id] = story
        return sprint

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        self.requests.append(request)
        path = request.url.path.removeprefix("/api/v1")
        handler = self.routes.get((request.method, path))
        if handler is not None:
            return handler(request)
        parts = path.strip("/").split("/")
        if request.method == "GET" and len(parts) == 1 and parts[0] in ("runs", "escalations"):
            return self._page(request, self.sprints if parts[0] == "runs" else self.escalations)
        if request.method == "GET" and len(parts) == 2:
            for each in (*self.sprints, *self.escalations):
                if str(each.id) == parts[1]:
                    return httpx.Response(200, json=each.model_dump(mode="json"))
        if parts[0] == "runs" and parts[-1] == "events":
            return self._events(request, UUID(parts[1]))
        return problem(404, f"there is no {path}")

    def _page(self, request: httpx.Request, every: list[Any]) -> httpx.Response:
        status = request.url.params.get("status")
        chosen = [each for each in every if status is None or each.status == status]
        begin = int(request.url.params.get("cursor", 0))
        end = begin + self.page_size
        items = [each.model_dump(mode="json") for each in chosen[begin:end]]
        cursor = str(end) if end < len(chosen) else None
        return httpx.Response(200, json={"items": items, "next_cursor": cursor})

    def _events(self, request: httpx.Request, run_id: UUID) -> httpx.Response:
        after = int(request.url.params["after"])
        every = self.stories[run_id].events
        events = [each.model_dump(mode="json") for each in every[after : after + self.page_size]]
        document = {
            "events": events,
            "head": len(every),
            "next_after": after + len(events),
            "mode": "resumed",
        }
        return httpx.Response(200, json=document)

    def follow(self, run_id: UUID) -> AsyncGenerator[Event | Reset]:
        """Give a run's events, the first ones twice, as after a reconnect that forgot."""

        async def events() -> AsyncGenerator[Event | Reset]:
            told = self.stories[run_id].events
            for each in (*told[:2], *told):
                yield each

        return events()


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


def invoke(
    service: FakeService,
    *arguments: str,
    cwd: Path = Path("/"),
    stdin: str = "",
    judging: FakeJudging | None = None,
    **settings: Any,
) -> Outcome:
    """Run one command line against a service; `judging` evaluates in place of the tools."""
    judged = {"make_judging": judging.open} if judging else {}
    out, err = io.StringIO(), io.StringIO()

    def root(project: Path | None) -> Root:
        return Root(
            settings=Settings(_env_file=None, PHASERUNNER_URL=URL, **settings),
            out=Console(file=out, markup=False, emoji=False, highlight=False, width=200),
            err=Console(file=err, markup=False, emoji=False, highlight=False, width=200),
            stdin=io.StringIO(stdin),
            cwd=cwd,
            transport=httpx.MockTransport(service),
            make_follow=lambda url, token: service.follow,
            **judged,
        )

    code = run(arguments, root, err)
    return Outcome(code, out.getvalue(), err.getvalue())


def sent(request: httpx.Request) -> dict[str, Any]:
    """The JSON body of a request."""
    return json.loads(request.content)


def accepting(service: FakeService, story: Story | None = None) -> None:
    """Let the service accept sprints, and play `story` for the one that is started."""

    def start(request: httpx.Request) -> httpx.Response:
        body = sent(request)
        changes = {"goal": body.get("goal", "of an issue"), "name": body.get("name", "unnamed")}
        sprint = service.add(story or Story(), **changes)
        notes = ["2 uncommitted changes are not part of the sprint; they are not touched"]
        return httpx.Response(201, json={**sprint.model_dump(mode="json"), "source": {"notes": notes}})

    service.routes["POST", "/sprints"] = service.routes["POST", "/forges/issues"] = start
