"""The Python client against a real server, across its restart."""

from contextlib import aclosing
from uuid import uuid4

import pytest

from app.client import Reconnect, Reset, follow
from app.core.errors import NotFoundError
from tests.integration.realtime.support import serving

pytestmark = pytest.mark.anyio

QUICKLY = Reconnect(first=0.01, longest=0.02, give_up_after=30.0)


async def test_it_follows_a_run_to_its_end_across_a_restart(database_url: str) -> None:
    got: list[int] = []
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 2)
        port = int(service.address.split(":")[1])
        events = follow(service.http, run_id, until_final=True, reconnect=QUICKLY)
        for _ in range(2):
            event = await anext(events)
            assert not isinstance(event, Reset)
            got.append(event["sequence"])
    async with serving(database_url, port=port) as service, aclosing(events):
        await service.runs.progress(run_id, 2)
        await service.runs.complete(run_id)
        async for event in events:
            assert not isinstance(event, Reset)
            got.append(event["sequence"])
    assert got == [1, 2, 3, 4, 5]


async def test_of_a_run_that_is_over_and_known_it_gives_nothing(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        last = await service.runs.complete(run_id)
        assert [event async for event in follow(service.http, run_id, after=last, until_final=True)] == []


async def test_a_cursor_ahead_is_a_reset(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.complete(run_id)
        events = [event async for event in follow(service.http, run_id, after=9, until_final=True)]
    assert events[0] == Reset(0, f"/api/v1/sprints/{run_id}")
    assert [event["sequence"] for event in events[1:] if not isinstance(event, Reset)] == [1]


async def test_an_unknown_run(database_url: str) -> None:
    async with serving(database_url) as service:
        with pytest.raises(NotFoundError):
            await anext(follow(service.http, uuid4()))
