"""Watches one sprint until it needs nobody, or somebody."""

import asyncio
from contextlib import aclosing
from uuid import UUID

from app.cli.exits import CliError, ExitCode
from app.cli.root import Session
from app.cli.terminal import write_line
from app.cli.view.asking import how_to_resolve
from app.cli.view.notices import notices
from app.cli.view.reducer import reduce
from app.cli.view.screens import open_screen
from app.cli.view.state import SprintState
from app.client.events import Reset


async def watch_sprint(
    session: Session,
    sprint_id: UUID,
    *,
    stay: bool = False,
    timeout: float | None = None,
    after: int = 0,
) -> ExitCode:
    """Show a sprint as it happened so far and as it goes on.

    Args:
        session: the service and the terminal.
        sprint_id: the sprint.
        stay: keep watching while a human is asked, until the sprint is over.
        timeout: seconds to watch for; the sprint goes on afterwards.
        after: what happened up to this event is known to the user and not shown.

    Returns:
        0, 1 or 3 by how the sprint stands, 124 when the time is up.
    """
    detail = await session.api.sprint(sprint_id)
    watch = _Watch(session, sprint_id, max(detail.last_sequence, after + 1), after, stay=stay)
    deadline = asyncio.timeout(timeout)
    try:
        async with deadline:
            state = await watch.to_the_end()
    except TimeoutError:
        if not deadline.expired():
            raise
        session.terminal.say(
            f"Time is up; the run goes on. Watch it with: phaserunner watch {str(sprint_id)[:8]}"
        )
        return ExitCode.TIMEOUT
    return exit_code(state.status)


def exit_code(status: str) -> ExitCode:
    """The exit code for a sprint that stands so."""
    if status == "completed":
        return ExitCode.PASSED
    return ExitCode.WAITING if status == "waiting" else ExitCode.FAILED


class _Watch:
    def __init__(self, session: Session, sprint_id: UUID, head: int, after: int, *, stay: bool) -> None:
        self._session = session
        self._sprint_id = sprint_id
        self._head = head
        self._after = after
        self._stay = stay
        self._told: UUID | None = None

    async def to_the_end(self) -> SprintState:
        state = SprintState()
        with open_screen(self._session.terminal.progress) as screen:
            async with aclosing(self._session.follow(self._sprint_id)) as events:
                async for event in events:
                    if isinstance(event, Reset):
                        state = SprintState(id=self._sprint_id, last_sequence=event.after)
                        continue
                    before, state = state, reduce(state, event)
                    if state is before:
                        continue
                    said = notices(event, state) if event.sequence > self._after else ()
                    screen.show(said, event.timestamp, state)
                    if self._is_over(state):
                        return state
        if state.is_final:
            return state
        raise CliError("the service ended the stream of events; watch again", ExitCode.TRANSPORT)

    def _is_over(self, state: SprintState) -> bool:
        if state.last_sequence < self._head:
            # These events are the past; a question among them may long be answered.
            return False
        if state.escalation is not None and state.escalation.id != self._told:
            self._told = state.escalation.id
            self._ask(state)
        return state.is_final or (state.is_waiting and not self._stay)

    def _ask(self, state: SprintState) -> None:
        question = state.escalation
        if question is None:
            return
        api = self._session.api
        lines = how_to_resolve(
            question.id, question.reason_kind, question.reason, api.url, with_token=api.has_token
        )
        for line in lines:
            write_line(self._session.terminal.progress, line)
