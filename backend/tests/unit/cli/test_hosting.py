"""Serving and showing at the same time."""

import asyncio
import socket
from collections.abc import Callable

import pytest

from app.cli.exits import CliError
from app.cli.given import read_given
from app.cli.hosting import choose_port, missing_key_remark, serve_and
from app.core.config import Settings
from app.schemas.api.sprints import SprintCreate

pytestmark = pytest.mark.anyio
URL = "http://127.0.0.1:8001"


class FakeServer:
    """Serves until it is told to stop, or cancelled."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.was_cancelled = False

    async def __call__(self, settings: Settings, *, ready: Callable[[str], None] | None = None) -> None:
        if ready:
            ready(URL)
        try:
            await self.stop.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


@pytest.fixture
def settings() -> Settings:
    return Settings(_env_file=None, ANTHROPIC_API_KEY=None, OPENAI_API_KEY=None, OPENAI_BASE_URL=None)


async def test_it_goes_on_serving_after_the_show(settings: Settings) -> None:
    server, shown = FakeServer(), asyncio.Event()

    async def show(url: str) -> None:
        assert url == URL
        shown.set()

    serving = asyncio.create_task(serve_and(settings, server, show))
    await shown.wait()
    await asyncio.sleep(0)
    assert not serving.done()
    server.stop.set()
    await serving


async def test_a_show_that_fails_stops_the_server(settings: Settings) -> None:
    server = FakeServer()

    async def show(url: str) -> None:
        raise CliError("goal: is missing")

    with pytest.raises(CliError, match="goal"):
        await serve_and(settings, server, show)
    assert server.was_cancelled


async def test_a_server_that_cannot_start_ends_it(settings: Settings) -> None:
    async def broken(settings: Settings, *, ready: Callable[[str], None] | None = None) -> None:
        raise CliError("no database")

    async def show(url: str) -> None:
        raise AssertionError("it was never ready")

    with pytest.raises(CliError, match="no database"):
        await serve_and(settings, broken, show)


async def test_an_interruption_ends_both(settings: Settings) -> None:
    server, showing = FakeServer(), asyncio.Event()
    ended: list[str] = []

    async def show(url: str) -> None:
        showing.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("show")

    serving = asyncio.create_task(serve_and(settings, server, show))
    await showing.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert server.was_cancelled
    assert ended == ["show"]


def test_a_taken_port_gives_way_unless_it_was_asked_for() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port: int = taken.getsockname()[1]
        assert choose_port("127.0.0.1", port, is_asked_for=False) > port
        with pytest.raises(CliError, match=f"port {port} on 127.0.0.1 is taken"):
            choose_port("127.0.0.1", port, is_asked_for=True)


def test_a_host_that_is_not_ours() -> None:
    with pytest.raises(CliError, match="cannot be listened on"):
        choose_port("192.0.2.1", 8000, is_asked_for=False)


def test_a_missing_key_is_said_before_anything_waits(settings: Settings) -> None:
    sprint = read_given(SprintCreate, {"goal": "x", "source": {"kind": "empty"}})
    assert "ANTHROPIC_API_KEY" in missing_key_remark(settings, sprint)
    with_key = settings.model_copy(update={"OPENAI_BASE_URL": "http://127.0.0.1:9"})
    assert missing_key_remark(with_key, sprint) == ""
