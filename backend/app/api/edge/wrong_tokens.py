"""Requests with wrong tokens: each is logged, and an address that sends many waits longer each time."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.core.errors import TooManyRequestsError

logger = logging.getLogger(__name__)

FORGOTTEN_SECONDS = 300.0
"""Seconds without a wrong token after which an address starts afresh."""

FREE, MAX_FAILURES = 3, 30
STEP_SECONDS, MAX_SECONDS = 0.25, 5.0
_MAX_ADDRESSES = 10_000


@dataclass(slots=True)
class _Failures:
    count: int
    last: float


class WrongTokens:
    """Counts wrong tokens by address. A right token between two wrong ones does not matter.

    Args:
        sleep: waits for a number of seconds.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep = sleep
        self._clock = clock
        self._by_address: OrderedDict[str, _Failures] = OrderedDict()

    async def note(self, address: str) -> None:
        """Log a wrong token, and wait longer the more of them came before.

        Raises:
            TooManyRequestsError: the address has sent too many; it is refused without waiting.
        """
        failures = self._failures_of(address)
        failures.count += 1
        failures.last = self._clock()
        told = "wrong token from %s, number %d; the count starts afresh after %d s without one"
        logger.warning(told, address, failures.count, FORGOTTEN_SECONDS)
        if failures.count > MAX_FAILURES:
            raise TooManyRequestsError("too many wrong tokens from this address; try again later")
        await self._sleep(min(max(0, failures.count - FREE) * STEP_SECONDS, MAX_SECONDS))

    def _failures_of(self, address: str) -> _Failures:
        known = self._by_address.pop(address, None)
        if known is None or self._clock() - known.last > FORGOTTEN_SECONDS:
            known = _Failures(0, self._clock())
        self._by_address[address] = known
        if len(self._by_address) > _MAX_ADDRESSES:
            self._by_address.popitem(last=False)
        return known
