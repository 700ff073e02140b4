"""Lets the signals that end a process end it in order."""

import asyncio
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM)
"""A terminal's Ctrl-C, and what service managers send first."""


@contextmanager
def ended_by_signals() -> Generator[None]:
    """Cancel the current task on SIGINT or SIGTERM, and leave the block without an error.

    Without it, SIGTERM kills the process before its parts can end. A second signal acts as usual.
    Code in the block may handle the signals itself. In threads other than the main one, which
    receive no signals, this does nothing.
    """
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    received = False

    def release() -> None:
        for number in ENDING:
            loop.remove_signal_handler(number)

    def end() -> None:
        nonlocal received
        received = True
        release()
        task.cancel()

    for number in ENDING:
        loop.add_signal_handler(number, end)
    try:
        yield
    except asyncio.CancelledError:
        if not received or task.uncancel() > 0:
            raise
    finally:
        release()
