"""Serving and showing at the same time."""

import asyncio
import io
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from app.agents.models.providers import ProviderKeys
from app.agents.provider import AgentProvider
from app.cli.exits import CliError, ExitCode
from app.cli.given import read_given
from app.cli.hosting import Tour, agents_remark, choose_port, require_known_agents, serve_and
from app.cli.root import Options, Root
from app.core.config import Settings
from app.schemas.api.sprints import SprintCreate
from app.workspaces.process import run_process
from tests.unit.cli.fakes import FakeService, invoke

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


@pytest.mark.parametrize(("port", "is_named"), [(8000, False), (9000, True)])
async def test_another_terminal_is_told_an_unusual_address(tmp_path: Path, port: int, is_named: bool) -> None:
    url, shown = f"http://127.0.0.1:{port}", io.StringIO()
    root = Root(
        settings=Settings(_env_file=None, PHASERUNNER_URL=None, HOST="127.0.0.1", PORT=port),
        out=Console(file=shown, width=200),
        err=Console(file=io.StringIO()),
        stdin=io.StringIO(),
        cwd=tmp_path,
        transport=httpx.MockTransport(FakeService()),
    )
    await Tour(root, Options(), ())(url)
    assert (f"export PHASERUNNER_URL={url}" in shown.getvalue()) is is_named


def agents_with(**keys: str) -> AgentProvider:
    return AgentProvider(ProviderKeys(**keys), run_process, Path("python"))


def asked_for(**agent: object) -> SprintCreate:
    return read_given(SprintCreate, {"goal": "x", "source": {"kind": "empty"}, "agent": agent})


def test_a_missing_key_is_said_before_anything_waits() -> None:
    remark = agents_remark(agents_with(), asked_for())
    assert "set ANTHROPIC_API_KEY or OPENAI_API_KEY. Without a model, try:" in remark
    assert "phaserunner escalations resolve --retry" in remark
    assert agents_remark(agents_with(openai_base_url="http://127.0.0.1:9"), asked_for()) == ""


def test_a_candidate_without_a_key_is_said_and_the_others_work() -> None:
    named = [{"agent": "pydantic-ai", "model": f"{each}:x"} for each in ("openai", "anthropic")]
    remark = agents_remark(agents_with(anthropic_api_key="k"), asked_for(candidates=named))
    assert "no key for openai:x: set OPENAI_API_KEY" in remark
    assert "anthropic:x" not in remark
    assert remark.endswith("The other candidates work without it.")


@pytest.mark.parametrize(
    ("agent", "option"),
    [
        pytest.param({"backend": "nope"}, "--agent", id="agent"),
        pytest.param(
            {"candidates": [{"agent": "pydantic-ai"}, {"agent": "nope"}]}, "--candidate", id="candidate"
        ),
    ],
)
def test_an_unknown_agent_is_refused_before_anything_starts(agent: dict[str, object], option: str) -> None:
    with pytest.raises(
        CliError, match=f"{option}: There is no agent 'nope': choose one of pydantic-ai, scripted"
    ):
        require_known_agents(agents_with(), asked_for(**agent))


def test_up_refuses_an_unknown_agent_before_it_starts(tmp_path: Path) -> None:
    settings = {"DATA_DIR": tmp_path / "data", "DATABASE_URL": "postgresql://127.0.0.1:1/none", "PORT": 0}
    outcome = invoke(FakeService(), "up", "make it work", "--agent", "nope", **settings)
    assert outcome.code == ExitCode.USAGE, outcome.err
    assert "--agent: There is no agent 'nope': choose one of" in outcome.err
    assert "Starting" not in outcome.out + outcome.err
