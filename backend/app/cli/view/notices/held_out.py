"""Notices about held-out tests."""

from collections.abc import Iterable

from app.cli.view.notices.notice import TerminalNotice, say
from app.cli.view.state import WatchedRun
from app.core.events.held_out import HeldOutCheckedEvent


@say.register
def _(event: HeldOutCheckedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    word = "warn" if event.data.passing or not event.data.total else "info"
    yield TerminalNotice(word, event.data.message)
