"""Two ways to show a run as it happens: a live terminal, and plain lines for everything else."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from app.cli.view.notices import TerminalNotice
from app.cli.view.state import AttemptProgress, PhaseState, WatchedRun
from app.cli.view.text import one_line
from app.cli.view.words import SCRIPT_WARNING, duration, look
from app.cli.view.wrapping import hanging

Clock = Callable[[], datetime]
_STEPS = {"working": "the agent works", "judging": "evaluating", "unjudged": "not judged yet"}
_REFRESHES_PER_SECOND = 8
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Screen(Protocol):
    """Shows notices as they arrive. Used as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, said: Sequence[TerminalNotice], at: datetime, state: WatchedRun) -> None:
        """Show the notices about an event at the time `at`. `state` is the state after it."""
        ...


def open_screen(console: Console) -> Screen:
    """Return the screen for the kind of output behind `console`."""
    return (
        LiveScreen(console) if console.is_terminal and not console.is_dumb_terminal else PlainScreen(console)
    )


class PlainScreen:
    """Lines with a time of day, without control sequences; for pipes, files and simple terminals."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, said: Sequence[TerminalNotice], at: datetime, state: WatchedRun) -> None:
        """Write each notice. Chatter is written only if it is a single line, such as a tool call."""
        clock = f"{at.astimezone():%H:%M:%S}"
        for each in said:
            if each.is_chatter and each.state != "active":
                continue
            for line in plain_lines(each):
                # Written without the console, because lines in a pipe must not be wrapped.
                self._console.file.write(f"{clock} {line}\n")
        self._console.file.flush()


class LiveScreen:
    """Past events scroll and stay; the present state is redrawn below them.

    Only a few lines at the bottom are ever redrawn, so that resizing and scrolling back are safe.
    """

    def __init__(self, console: Console, clock: Clock = lambda: datetime.now(UTC)) -> None:
        self._console = console
        self._clock = clock
        self._state = WatchedRun()
        self._live = Live(
            console=console,
            get_renderable=self._bottom,
            refresh_per_second=_REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, said: Sequence[TerminalNotice], at: datetime, state: WatchedRun) -> None:
        """Print each notice above the bottom lines. Chatter appears only in those."""
        self._state = state
        for each in said:
            if not each.is_chatter:
                self._console.print(styled(each, self._console.width))

    def _bottom(self) -> RenderableType:
        return bottom(self._state, self._clock())


def bottom(state: WatchedRun, now: datetime) -> RenderableType:
    """Return the lines that show the present state, at most six."""
    if state.is_final or state.is_waiting:
        return Text()
    phase = state.current
    attempt = phase.latest if phase else None
    frame = _FRAMES[int(now.timestamp() * _REFRESHES_PER_SECOND) % len(_FRAMES)]
    headline = Text(f"{frame} {_headline(phase, attempt, now)}", no_wrap=True, overflow="ellipsis")
    lines: list[RenderableType] = [_rail(state), headline]
    if attempt:
        lines += [_dim(f"    {line}") for line in _happening(attempt)]
    return Group(*lines)


def plain_lines(notice: TerminalNotice) -> list[str]:
    """Return a notice as lines of text: icon, words, and the details indented below."""
    indent = "  " * notice.depth
    return [
        f"{indent}{look(notice.state).icon} {notice.text}",
        *(f"{indent}    {line}" for line in notice.details),
    ]


def styled(notice: TerminalNotice, width: int) -> Text:
    """Return a notice in colour, for a terminal of this width. The run and its phases stand out."""
    first, *rest = (hanging(line, width) for line in plain_lines(notice))
    style = look(notice.state).style
    text = Text(first, style=f"bold {style}" if notice.depth < 2 else style)
    if rest:
        text.append("\n" + "\n".join(rest), style="not bold default")
    return text


def _rail(state: WatchedRun) -> Text:
    rail = Text(no_wrap=True, overflow="ellipsis")
    for phase in state.phases:
        appearance = look(phase.status)
        rail.append(f"{appearance.icon} {phase.name}   ", style=appearance.style)
    if state.scripted:
        rail.append(SCRIPT_WARNING, style="yellow")
    return rail


def _headline(phase: PhaseState | None, attempt: AttemptProgress | None, now: datetime) -> str:
    if phase is None or attempt is None:
        return "waiting for a worker" if phase is None else f"{phase.name} · about to start"
    of = f" of {phase.max_attempts}" if phase.max_attempts else ""
    parts = [phase.name, f"attempt {attempt.number}{of}"]
    parts.append(_STEPS.get(attempt.step, attempt.step))
    if attempt.step in _STEPS:
        parts.append(duration(float(int((now - attempt.started_at).total_seconds()))))
    if attempt.step == "working" and attempt.tool_calls:
        parts.append(f"{attempt.tool_calls} tool call{'s' if attempt.tool_calls > 1 else ''}")
    return " · ".join(parts)


def _happening(attempt: AttemptProgress) -> Sequence[str]:
    if attempt.trouble:
        return (attempt.trouble,)
    if attempt.step == "judging" and attempt.missing_evaluators:
        return (one_line(f"waiting for {', '.join(attempt.missing_evaluators)}"),)
    return attempt.activity


def _dim(line: str) -> Text:
    return Text(line, style="dim", no_wrap=True, overflow="ellipsis")
