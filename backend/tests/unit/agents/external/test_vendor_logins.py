"""Agents with a login at their vendor: what they reach, what they may change, and how they are bounded."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.agents.external.agent import ExternalAgent
from app.agents.external.events import AgentSaid, AgentStirred, Failed, SessionBegan, ToolCalled
from app.agents.external.launch import LaunchPlan, write_files
from app.agents.external.login import LoginBusyError, NoEndpoint, lent, login_problem
from app.agents.external.profile_file import parse_profiles
from app.agents.gateway_port import VENDOR_LOGIN
from app.agents.port import AgentFailure, AgentLimits, AgentResult, FailureKind
from app.core.errors import InvalidInputError
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.egress import EgressRules
from app.workspaces.confine.sandbox import Sandbox
from tests.agent_fakes import Listener
from tests.unit.agents.external.support import FakeGateway, agent_of, command_profile, task_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    return place


@pytest.fixture
def login(tmp_path: Path) -> Path:
    directory = tmp_path / "login of the operator"
    directory.mkdir(mode=0o700)
    key = directory / "credentials.json"
    key.write_text("first")
    key.chmod(0o600)
    return directory


@pytest.fixture
async def sandbox() -> Sandbox:
    """A sandbox whose egress lets one name through that leads to loopback, to show that it works."""
    sandbox = Sandbox(SandboxSettings(egress=EgressRules(frozenset({"localhost"}))))
    state = await sandbox.state()
    if not state.confined:
        pytest.skip(state.detail)
    return sandbox


def vendor_agent(
    login: Path | None, sandbox: Sandbox | None, gateway: FakeGateway | None = None
) -> ExternalAgent:
    profile = command_profile(network="machine", login="{home}/.vendor", env={}, resume=None)
    return replace(agent_of(profile, gateway, sandbox), login=login)


def owner_of(path: Path) -> int:
    return path.stat().st_uid


@asynccontextmanager
async def service() -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server on loopback; gives its port and what it was asked."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


async def test_it_reaches_what_the_egress_allows_and_no_private_address(
    place: Path, login: Path, sandbox: Sandbox
) -> None:
    hosts = ["localhost", "127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "192.168.1.1"]
    async with service() as (port, heard):
        urls = [f"http://{host}:{port}/" for host in hosts]
        prompt = f"fetch {json.dumps(urls)}"
        outcome = await vendor_agent(login, sandbox).run(task_of(place, prompt), Listener())
    assert isinstance(outcome, AgentResult), outcome
    proxied, direct = json.loads(outcome.output)
    assert proxied == ["200", *["403"] * 5]
    assert direct == ["refused"] * 6, "past the proxy there is no network at all"
    assert len(heard) == 1


async def test_it_works_without_a_gateway_on_a_login_that_stays_the_operators(
    place: Path, login: Path, sandbox: Sandbox
) -> None:
    owner = owner_of(login)
    gateway = FakeGateway()
    agent = vendor_agent(login, sandbox, gateway)
    outcome = await agent.run(task_of(place, "login second"), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output == "first"
    assert gateway.grants == []
    assert agent.provider == VENDOR_LOGIN
    key = login / "credentials.json"
    assert key.read_text() == "second", "vendors renew their tokens"
    assert (owner_of(key), owner_of(login)) == (owner, owner)
    assert (outcome.usage.requests, outcome.usage.tool_calls) == (2, 1)
    assert outcome.usage.cost_usd is None


async def test_its_requests_are_bounded_by_what_it_shows(place: Path, login: Path, sandbox: Sandbox) -> None:
    task = replace(task_of(place, "circles"), limits=AgentLimits(seconds=60, requests=5))
    outcome = await vendor_agent(login, sandbox).run(task, Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.LIMIT
    assert "asked more often than the limit of 5 requests" in outcome.message
    assert outcome.usage.requests > 5


def test_a_beginning_and_a_failure_alone_are_no_request() -> None:
    endpoint = NoEndpoint()
    for event in (SessionBegan("s"), AgentStirred(), Failed("there is no such conversation")):
        endpoint.take(event)
    assert endpoint.usage().requests == 0
    endpoint.take(AgentSaid("I look."))
    endpoint.take(ToolCalled("bash", "ls"))
    assert endpoint.usage().requests == 2


async def test_without_a_sandbox_it_does_not_start(place: Path, login: Path) -> None:
    outcome = await vendor_agent(login, None).run(task_of(place, "make it"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert (outcome.kind, outcome.message) == (
        FailureKind.CONFIGURATION,
        "scripted-command has a network, so it only works in the sandbox",
    )
    assert os.listdir(place) == []


async def test_a_login_is_lent_to_one_agent_at_a_time(login: Path) -> None:
    async with lent(login, 0.0):
        with pytest.raises(LoginBusyError, match="another agent has used the login"):
            async with lent(login, 0.0):
                pass
    async with lent(login, 0.0):
        pass


def test_what_cannot_be_lent_has_a_reason(tmp_path: Path, login: Path) -> None:
    data = login / "data"
    data.mkdir()
    link = tmp_path / "link"
    link.symlink_to(login)
    assert login_problem(login, [tmp_path / "elsewhere"]) is None
    assert "is not an absolute path" in (login_problem(Path("login"), []) or "")
    assert "is not a directory" in (login_problem(tmp_path / "missing", []) or "")
    assert "is not a directory" in (login_problem(login / "credentials.json", []) or "")
    assert "is not a directory" in (login_problem(link, []) or "")
    assert "holds more than a login" in (login_problem(login, [data]) or "")
    assert "holds more than a login" in (login_problem(Path("/"), [data]) or "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param('login = "{home}/.mine"', 'has a meaning with network = "machine"', id="no-network"),
        pytest.param('network = "machine"\nlogin = "/root"', "begins with {home}/", id="outside"),
        pytest.param('network = "machine"\nlogin = "{home}/../x"', "begins with {home}/", id="upwards"),
        pytest.param('network = "machine"\nenv = { KEY = "{token}" }', "there is no gateway", id="token"),
        pytest.param(
            'network = "machine"\nlogin = "{home}/.m"\nfiles = { "{home}/.m/a" = "" }',
            "would be written into the login directory",
            id="files",
        ),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(line: str, said: str) -> None:
    text = f'[agents.mine]\ndriver = "command"\nargv = ["mine"]\ndialect = "anthropic"\n{line}\n'
    with pytest.raises(InvalidInputError, match="mine") as refused:
        parse_profiles(text, "agents.toml")
    assert said in refused.value.detail


def test_links_that_an_agent_left_in_its_home_are_never_followed(tmp_path: Path, login: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (outside / "config").write_text("the operator's")
    (home / ".one").symlink_to(outside)
    (home / ".two").mkdir()
    (home / ".two" / "config").symlink_to(outside / "config")
    (home / ".vendor").mkdir()
    (home / ".vendor" / "planted").write_text("x")
    files = {home / ".one" / "config": "one", home / ".two" / "config": "two"}
    plan = LaunchPlan([], {}, home, tmp_path, (), files, "", None, link=(home / ".vendor", login))
    write_files(plan)
    write_files(plan)
    assert (outside / "config").read_text() == "the operator's"
    assert [path.read_text() for path in files] == ["one", "two"]
    assert (home / ".vendor").resolve() == login.resolve()
    assert sorted(os.listdir(login)) == ["credentials.json"]
