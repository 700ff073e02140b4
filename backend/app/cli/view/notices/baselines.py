"""Notices about the baseline."""

from collections.abc import Iterable

from app.cli.view.notices.notice import TerminalNotice, say
from app.cli.view.state import WatchedRun
from app.cli.view.text import one_line
from app.core.events.baselines import BaselineCompletedEvent


@say.register
def _(event: BaselineCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    word = "warn" if data.red or data.flaky or data.unreadable or data.trouble else "info"
    yield TerminalNotice(word, one_line(data.message, 500))
