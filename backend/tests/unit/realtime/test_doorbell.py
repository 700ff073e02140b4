"""The doorbell merges, splits, survives outages, and trusts no payload."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.realtime.background import in_background
from app.realtime.doorbell import CHANNEL, Doorbell, payloads, read_payload

pytestmark = pytest.mark.anyio

RUN = UUID("0197a000-0000-7000-8000-000000000001")


@pytest.mark.parametrize("count", [0, 1, 180, 181, 1_000])
def test_payloads_fit_and_lose_nothing(count: int) -> None:
    run_ids = {uuid4() for _ in range(count)}
    parts = list(payloads(run_ids))
    assert all(len(part.encode()) < 8_000 for part in parts)
    read = [run_id for part in parts for run_id in read_payload(part) or []]
    assert sorted(read) == sorted(run_ids)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(f'["{RUN}"]', [RUN], id="ours"),
        pytest.param("[]", [], id="empty list"),
        pytest.param("", None, id="empty"),
        pytest.param(str(RUN), None, id="not JSON"),
        pytest.param(f'{{"run":"{RUN}"}}', None, id="not a list"),
        pytest.param('["; DROP TABLE runs"]', None, id="not an id"),
        pytest.param("[" * 7_000, None, id="deeply nested"),
    ],
)
def test_read_payload(payload: str, expected: list[UUID] | None) -> None:
    assert read_payload(payload) == expected


class FakePostgres:
    """Hands out connections; records what is notified; fails as told."""

    def __init__(self) -> None:
        self.notified: list[list[str]] = []
        self.refuse_connections = 0
        self.fail_sends = 0
        self.terminated = 0
        self.changed = asyncio.Event()

    async def connect(self) -> Any:
        if self.refuse_connections:
            self.refuse_connections -= 1
            raise ConnectionRefusedError("the database is unavailable")
        return self

    async def execute(self, _query: str, channel: str, payload: str) -> None:
        if self.fail_sends:
            self.fail_sends -= 1
            raise ConnectionResetError("the connection is lost")
        assert channel == CHANNEL
        self.notified.append(json.loads(payload))
        self.changed.set()

    def terminate(self) -> None:
        self.terminated += 1


async def test_rings_close_together_are_one_bell() -> None:
    postgres = FakePostgres()
    doorbell = Doorbell(postgres.connect, coalesce_seconds=0.0, retry_seconds=0.0)
    async with in_background(doorbell.run):
        for _ in range(100):
            doorbell.ring(RUN)
        await postgres.changed.wait()
        postgres.changed.clear()
        doorbell.ring(RUN)
        await postgres.changed.wait()
    assert postgres.notified == [[str(RUN)], [str(RUN)]]
    assert postgres.terminated == 1


async def test_bells_rung_during_an_outage_are_sent_after_it() -> None:
    postgres = FakePostgres()
    postgres.refuse_connections, postgres.fail_sends = 2, 2
    doorbell = Doorbell(postgres.connect, coalesce_seconds=0.0, retry_seconds=0.0)
    async with in_background(doorbell.run):
        doorbell.ring(RUN)
        await postgres.changed.wait()
    assert postgres.notified == [[str(RUN)]]
    assert postgres.terminated == 3
