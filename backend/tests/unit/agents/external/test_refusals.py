"""From when on an agent that goes on asking is ended, by what it was answered."""

from datetime import UTC, datetime, timedelta

import pytest

from app.agents.external.refusals import Refusals
from app.agents.gateway_port import GatewayFailure
from app.agents.port import FailureKind

NOW = datetime(2026, 11, 23, tzinfo=UTC)
LIMIT = GatewayFailure(FailureKind.LIMIT, "the limit of 100 requests")
KEY = GatewayFailure(FailureKind.CONFIGURATION, "the key is rejected")
AWAY = GatewayFailure(FailureKind.UNAVAILABLE, "it failed")
AGAIN = GatewayFailure(FailureKind.UNAVAILABLE, "it failed")
RESTS = GatewayFailure(FailureKind.UNAVAILABLE, "its rate limit", NOW + timedelta(hours=1))
RESTED = GatewayFailure(FailureKind.UNAVAILABLE, "its rate limit", NOW - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("looks", "ended"),
    [
        pytest.param([(0, None), (60, None)], False, id="no failure"),
        pytest.param([(0, LIMIT), (29, LIMIT)], False, id="it may still end by itself"),
        pytest.param([(0, LIMIT), (30, LIMIT)], True, id="a spent limit"),
        pytest.param([(0, KEY), (30, KEY)], True, id="a rejected key"),
        pytest.param([(0, AWAY), (30, AWAY)], False, id="a request is under way"),
        pytest.param([(0, AWAY), (29, AGAIN), (31, AGAIN)], False, id="it was asked again before"),
        pytest.param([(0, AWAY), (29, AGAIN), (31, AWAY)], True, id="it fails again and again"),
        pytest.param([(0, AWAY), (20, None), (31, AWAY), (60, AGAIN)], False, id="an answer between"),
        pytest.param([(0, RESTS), (30, RESTS)], True, id="a limit that ends later"),
        pytest.param([(0, RESTED), (30, RESTED)], False, id="a limit that has ended"),
    ],
)
def test_an_agent_is_ended(looks: list[tuple[float, GatewayFailure | None]], ended: bool) -> None:
    refusals = Refusals()
    *before, last = [refusals.look(failure, 1000.0 + at, NOW) for at, failure in looks]
    assert (before, last) == ([False] * len(before), ended)
