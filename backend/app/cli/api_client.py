"""The REST API for the command line: one method for each call, with typed responses."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import BaseModel

from app.cli.service_http import Params, ServiceHttp
from app.schemas.api.runs import RunPage, RunView
from app.schemas.runs import RunKind

if TYPE_CHECKING:
    # Every command imports this module, but few need these.
    from app.core.websocket_events import Event
    from app.schemas.api.answers import AnswerCreate, AnswerDetail
    from app.schemas.api.escalations import EscalationAssign, EscalationResolve, EscalationView
    from app.schemas.api.forges import IssueSprintCreate
    from app.schemas.api.loops import LoopCreate, LoopDetail
    from app.schemas.api.run_details import RunDetail
    from app.schemas.api.sprints import SprintCreate

PAGE = 100
EVENTS_PAGE = 1000


class _Source(BaseModel):
    notes: list[str] = []


class _HeldOut(BaseModel):
    files: list[str] = []
    cases: dict[str, Any] | None = None
    note: str = ""


class StartedSprint(RunView):
    """A started sprint, and what is known of its source and of its hidden test cases."""

    source: _Source = _Source()
    held_out: _HeldOut | None = None

    @property
    def notes(self) -> list[str]:
        """What the import left out, such as uncommitted changes, and how many test cases are hidden."""
        held = self.held_out
        # Of tests that the request brings, there is nothing to tell yet.
        is_told = held is not None and (held.cases is not None or not held.files)
        return [*self.source.notes, *([held.note] if held is not None and is_told else [])]


class _EventPage(BaseModel):
    events: list[dict[str, Any]]
    head: int
    next_after: int


class ApiClient(ServiceHttp):
    """The calls that commands share. `ServiceHttp` documents their errors."""

    async def start(
        self, sprint: "SprintCreate | IssueSprintCreate", key: str, path: str = "/sprints"
    ) -> StartedSprint:
        """Start a sprint.

        Repeating it with the same `key` is safe, so a request with a lost response is repeated.
        """
        return await self.post_start(path, sprint, StartedSprint, key)

    async def start_loop(self, loop: "LoopCreate", key: str) -> "LoopDetail":
        """Start a director-evaluator loop. It is as safe to repeat as `start`."""
        from app.schemas.api.loops import LoopDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self.post_start("/loops", loop, LoopDetail, key)

    async def start_answer(self, answer: "AnswerCreate", key: str) -> "AnswerDetail":
        """Ask for an answer. It is as safe to repeat as `start`."""
        from app.schemas.api.answers import AnswerDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self.post_start("/answers", answer, AnswerDetail, key)

    async def answer(self, answer_id: UUID) -> "AnswerDetail":
        """Get one answer with every attempt."""
        from app.schemas.api.answers import AnswerDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self.get(AnswerDetail, f"/answers/{answer_id}")

    async def loop(self, loop_id: UUID) -> "LoopDetail":
        """Get one loop with every iteration."""
        from app.schemas.api.loops import LoopDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self.get(LoopDetail, f"/loops/{loop_id}")

    async def whole(self, run_id: UUID) -> Any:
        """Get one run in the form for its kind."""
        run = await self.run(run_id)
        if run.kind is RunKind.DIRECTOR_LOOP:
            return (await self.loop(run_id)).model_dump(mode="json", by_alias=True)
        if run.kind is RunKind.ANSWER:
            return (await self.answer(run_id)).model_dump(mode="json")
        return run.model_dump(mode="json")

    async def run(self, run_id: UUID) -> "RunDetail":
        """Get one run with the fields that runs of every kind have."""
        from app.schemas.api.run_details import RunDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self.get(RunDetail, f"/runs/{run_id}")

    async def runs(self, limit: int = PAGE, **filters: str | list[str]) -> AsyncGenerator[RunView]:
        """List runs of every kind over all pages, newest first unless `sort` says otherwise."""
        cursor: str | None = None
        while True:
            params: Params = {"limit": str(limit), **filters} | ({"cursor": cursor} if cursor else {})
            page = await self.get(RunPage, "/runs", params)
            for each in page.items:
                yield each
            cursor = page.next_cursor
            if cursor is None:
                return

    async def cancel(self, run_id: UUID, reason: str) -> Any:
        """Cancel a run."""
        return await self.json("POST", f"/runs/{run_id}/cancel", body={"reason": reason})

    async def escalations(self, status: str | None = "open") -> "AsyncGenerator[EscalationView]":
        """List escalations over all pages, oldest first; None is any status."""
        from app.schemas.api.escalations import EscalationPage  # noqa: PLC0415 - only for this call: keeps start-up quick

        cursor: str | None = None
        while True:
            params = {"limit": str(PAGE)} | ({"status": status} if status else {})
            params |= {"cursor": cursor} if cursor else {}
            page = await self.get(EscalationPage, "/escalations", params)
            for each in page.items:
                yield each
            cursor = page.next_cursor
            if cursor is None:
                return

    async def escalation(self, escalation_id: UUID) -> "EscalationView":
        """Get one escalation."""
        from app.schemas.api.escalations import EscalationView  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self.get(EscalationView, f"/escalations/{escalation_id}")

    async def assign(self, escalation_id: UUID, how: "EscalationAssign") -> "EscalationView":
        """Take an escalation for the caller."""
        from app.schemas.api.escalations import EscalationView  # noqa: PLC0415 - only for this call: keeps start-up quick

        said = await self.json(
            "POST", f"/escalations/{escalation_id}/assign", body=how.model_dump(mode="json")
        )
        return EscalationView.model_validate(said)

    async def release(self, escalation_id: UUID) -> "EscalationView":
        """Release an escalation."""
        from app.schemas.api.escalations import EscalationView  # noqa: PLC0415 - only for this call: keeps start-up quick

        said = await self.json("DELETE", f"/escalations/{escalation_id}/assign")
        return EscalationView.model_validate(said)

    async def resolve(self, escalation_id: UUID, decision: "EscalationResolve") -> Any:
        """Resolve an escalation."""
        body = decision.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        return await self.json("POST", f"/escalations/{escalation_id}/resolve", body=body)

    async def events(self, run_id: UUID) -> "AsyncGenerator[Event]":
        """List the events stored so far, in order."""
        from app.cli.follow import parse_event  # noqa: PLC0415 - only for this call: keeps start-up quick

        after, head = 0, 1
        while after < head:
            params = {"after": str(after), "limit": str(EVENTS_PAGE)}
            page = await self.get(_EventPage, f"/runs/{run_id}/events", params)
            for item in page.events:
                if event := parse_event(item):
                    yield event
            if not page.events:
                return
            after, head = page.next_after, page.head
