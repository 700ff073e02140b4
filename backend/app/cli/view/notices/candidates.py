"""Notices about candidates and the choice between them."""

from collections.abc import Iterable

from app.cli.view.notices.notice import EVIDENCE_LINES, TerminalNotice, because, say
from app.cli.view.state import WatchedRun
from app.cli.view.text import first_lines, one_line
from app.core.events.candidates import CandidateFailedEvent, JudgeDecidedEvent


@say.register
def _(event: CandidateFailedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    text = f"Candidate {data.candidate + 1} ({one_line(data.agent)}) failed{because(data.error or '')}"
    yield TerminalNotice("errored", text, depth=3)


@say.register
def _(event: JudgeDecidedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    text = f"Candidate {event.data.candidate + 1} was chosen"
    yield TerminalNotice("info", text, first_lines(event.data.rationale, EVIDENCE_LINES), depth=3)
