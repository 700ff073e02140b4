"""How wrong tokens are counted and answered."""

import logging

import pytest

from app.api.edge.wrong_tokens import FORGOTTEN_SECONDS, FREE, MAX_FAILURES, MAX_SECONDS, WrongTokens
from app.core.errors import TooManyRequestsError

pytestmark = pytest.mark.anyio


class Time:
    """A clock that moves only when it is told to, and a sleep that notes how long."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def clock(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def wrong(time: Time) -> WrongTokens:
    return WrongTokens(time.sleep, time.clock)


async def test_the_first_are_answered_at_once_and_later_ones_ever_later(
    wrong: WrongTokens, time: Time
) -> None:
    for _ in range(MAX_FAILURES):
        await wrong.note("203.0.113.7")
    assert time.slept[:FREE] == [0.0] * FREE
    assert time.slept == sorted(time.slept)
    assert 0 < time.slept[-1] <= MAX_SECONDS
    with pytest.raises(TooManyRequestsError):
        await wrong.note("203.0.113.7")


async def test_other_addresses_do_not_wait(wrong: WrongTokens, time: Time) -> None:
    for _ in range(MAX_FAILURES):
        await wrong.note("203.0.113.7")
    await wrong.note("203.0.113.8")
    assert time.slept[-1] == 0.0


async def test_an_address_begins_anew_after_a_while(wrong: WrongTokens, time: Time) -> None:
    for _ in range(MAX_FAILURES):
        await wrong.note("203.0.113.7")
    time.now += FORGOTTEN_SECONDS + 1
    await wrong.note("203.0.113.7")
    assert time.slept[-1] == 0.0


async def test_each_is_logged_with_its_address_and_number(
    wrong: WrongTokens, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await wrong.note("203.0.113.7")
        await wrong.note("203.0.113.7")
        time.now += FORGOTTEN_SECONDS + 1
        await wrong.note("203.0.113.7")
    rule = "the count starts afresh after 300 s without one"
    assert [each.getMessage() for each in caplog.records] == [
        f"wrong token from 203.0.113.7, number {number}; {rule}" for number in (1, 2, 1)
    ]
