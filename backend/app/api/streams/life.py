"""Ends a block of work for a client from outside, without a task that waits for the reason."""

import asyncio
from types import TracebackType


class Life:
    """A block that others can end with a reason, which the block then raises.

    Only the first reason counts. A reason given before the block ends it when it is entered; a reason given
    after the block is ignored.
    """

    __slots__ = ("_cancelling", "_is_over", "_reason", "_task")

    def __init__(self) -> None:
        self._reason: BaseException | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._is_over = False

    def end(self, reason: BaseException) -> None:
        """End the block."""
        if self._reason is not None or self._is_over:
            return
        self._reason = reason
        if self._task is not None:
            self._task.cancel()

    def tie(self, task: asyncio.Task[None]) -> None:
        """End the block when this task fails, with the task's error as the reason."""
        task.add_done_callback(self._on_end)

    def _on_end(self, ended: asyncio.Task[None]) -> None:
        if not ended.cancelled() and (error := ended.exception()):
            self.end(error)

    def __enter__(self) -> None:
        if self._reason is not None:
            raise self._reason
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task else 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task, self._is_over = self._task, None, True
        if self._reason is None or task is None:
            return
        # Like `asyncio.timeout`: a task that was also cancelled for another reason stays cancelled.
        if task.uncancel() <= self._cancelling and isinstance(error, asyncio.CancelledError):
            raise self._reason from None
