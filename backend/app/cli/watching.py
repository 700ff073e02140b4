"""Watches one run until it ends or needs a person."""

import asyncio
from contextlib import aclosing
from uuid import UUID

from app.cli.exits import CliError, ExitCode
from app.cli.root import Session
from app.cli.terminal import write_line
from app.cli.view.asking import how_to_resolve, question
from app.cli.view.notices import notices
from app.cli.view.reducer import reduce
from app.cli.view.screens import open_screen
from app.cli.view.state import WatchedRun
from app.client.events import Reset


async def watch_run(
    session: Session,
    run_id: UUID,
    *,
    stay: bool = False,
    timeout: float | None = None,
    after: int = 0,
) -> ExitCode:
    """Show the events of a run so far, and then new ones as they happen.

    Args:
        session: the service and the terminal.
        run_id: the run.
        stay: keep watching while the run waits for a person.
        timeout: seconds to watch; the run continues afterwards.
        after: the last event that the user has seen.

    Returns:
        0, 1 or 3 by the run's status; 124 if time ran out.
    """
    detail = await session.api.run(run_id)
    watch = _Watch(session, run_id, max(detail.last_sequence, after + 1), after, stay=stay)
    deadline = asyncio.timeout(timeout)
    try:
        async with deadline:
            state = await watch.to_the_end()
    except TimeoutError:
        if not deadline.expired():
            raise
        session.terminal.say(
            f"Stopped watching; the run continues. Watch it with: phaserunner watch {str(run_id)[:8]}"
        )
        return ExitCode.TIMEOUT
    return exit_code(state.status)


def exit_code(status: str) -> ExitCode:
    """Return the exit code for the status of a run."""
    if status == "completed":
        return ExitCode.PASSED
    return ExitCode.WAITING if status == "waiting" else ExitCode.FAILED


class _Watch:
    def __init__(self, session: Session, run_id: UUID, head: int, after: int, *, stay: bool) -> None:
        self._session = session
        self._run_id = run_id
        self._head = head
        self._after = after
        self._stay = stay
        self._told: UUID | None = None

    async def to_the_end(self) -> WatchedRun:
        state = WatchedRun()
        with open_screen(self._session.terminal.progress) as screen:
            async with aclosing(self._session.follow(self._run_id)) as events:
                async for event in events:
                    if isinstance(event, Reset):
                        state = WatchedRun(id=self._run_id, last_sequence=event.after)
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
        raise CliError("the service ended the stream of events; run `watch` again", ExitCode.TRANSPORT)

    def _is_over(self, state: WatchedRun) -> bool:
        if state.last_sequence < self._head:
            # These events are past, and a question among them may already be answered.
            return False
        if state.escalation is not None and state.escalation.id != self._told:
            self._told = state.escalation.id
            self._ask(state)
        return state.is_final or (state.is_waiting and not self._stay)

    def _ask(self, state: WatchedRun) -> None:
        asked = state.escalation
        if asked is None:
            return
        api = self._session.api
        ways = how_to_resolve(asked.id, asked.reason_kind, api.url, with_token=api.has_token)
        for line in [*question(asked.id, asked.reason), *ways]:
            write_line(self._session.terminal.progress, line)
