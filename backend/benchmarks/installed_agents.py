"""What driver, sandbox and gateway cost an attempt of an installed agent, and what twenty of them leave."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import logfire

from app.agents.built_in.agent import PydanticAiAgent
from app.agents.external.agent import ExternalAgent
from app.agents.external.installed import find_installed
from app.agents.external.profile import AgentProfile
from app.agents.gateway_port import Dialect
from app.agents.models.connected import ConnectedModel
from app.agents.models.factory import AS_USUAL, build_model
from app.agents.models.providers import ProviderKeys
from app.agents.port import Agent, AgentFailure, AgentLimits, AgentProgress, AgentTask
from app.agents.scripted.agent import ScriptedAgent
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import NoLedger
from app.gateway.prices import ListPrices
from app.gateway.recorded_model import recorded
from app.gateway.scripted.script import Say
from app.gateway.scripted.server import ScriptedModelServer
from app.schemas.agent_script import AgentScript
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.process import run_process
from benchmarks.figures import Series

TITLE = "agents: an instant installed agent, its output, and twenty at once"
ROUNDS = 30
AT_ONCE = 20
OUTPUT_ROUNDS = 3
OUTPUT_SECONDS = 5
OUTPUT_RATE = 100_000
TARGET_MS = 60.0
TARGET_PERCENT = 5.0

_CALL = (
    'exec 3<>/dev/tcp/127.0.0.1/8017; B=\'{"model":"scripted-model","messages":[]}\'; '
    'printf "POST /v1/chat/completions HTTP/1.1\\r\\nHost: g\\r\\nAuthorization: Bearer $TOKEN\\r\\n'
    'Content-Type: application/json\\r\\nContent-Length: ${#B}\\r\\nConnection: close\\r\\n\\r\\n$B" >&3; '
    "while read -r L <&3; do :; done; echo done"
)
"""Asks the model once in the shell itself: an interpreter would take longer to start than all the rest."""

_TALK = """
import sys, time
begun, line = time.monotonic(), "x" * 99 + "\\n"
for tenth in range({tenths}):
    sys.stdout.write(line * ({rate} // 1000)); sys.stdout.flush()
    time.sleep(max(0.0, begun + (tenth + 1) / 10 - time.monotonic()))
"""
_SCRIPT = {"title": "instant", "phases": {"coding": [{"say": "done"}]}}


async def measure(place: Path) -> list[Series]:
    """Let both agents work in turns, then one that talks, then many; the first turn does not count."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    sandbox = Sandbox()
    state = await sandbox.state()
    if not state.confined:
        raise RuntimeError(state.detail)
    async with scripted_model() as model, gateway_to(model) as gateway:
        instant = instant_agent(gateway, sandbox)
        scripted = ScriptedAgent(AgentScript.model_validate(_SCRIPT))
        before = _processor_ms()
        installed, alone, built_in = await _in_turns(place, instant, scripted, built_in_agent(model))
        used = (_processor_ms() - before) / (ROUNDS + 1)
        talk = _TALK.format(tenths=OUTPUT_SECONDS * 10, rate=OUTPUT_RATE)
        talking = command_agent([sys.executable, "-I", "-c", talk], gateway, sandbox)
        shares = [await _share(talking, place) for _ in range(OUTPUT_ROUNDS)]
        left = await leftovers_of(instant, place)
    added = [one - other for one, other in zip(installed, alone, strict=True)]
    over_built_in = [one - other for one, other in zip(installed, built_in, strict=True)]
    return [
        Series("an attempt of an instant installed agent", installed),
        Series("the same of the scripted agent", alone),
        Series("the same of the built-in agent", built_in),
        Series("added by sandbox, driver and gateway", added, "ms", TARGET_MS),
        Series("added to the built-in agent", over_built_in, "ms", TARGET_MS),
        Series("processor time of a turn, children included", [used]),
        Series("output of 100 kB/s, share of a core", shares, "%", TARGET_PERCENT),
        Series(f"left by {AT_ONCE} agents at once", [float(left)], "things", 0.0),
    ]


async def leftovers_of(agent: Agent, place: Path) -> int:
    """Let many work at once; return how many processes, sockets and directories remain."""
    homes = place / "temporary"
    homes.mkdir()
    usual, tempfile.tempdir = tempfile.tempdir, str(homes)
    try:
        before = _open_now()
        await asyncio.gather(*(_work(agent, place / f"tree {each}") for each in range(AT_ONCE)))
        return max(0, _open_now() - before) + len(list(homes.iterdir()))
    finally:
        tempfile.tempdir = usual


def _open_now() -> int:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    sockets = [each for each in Path("/proc/self/fd").iterdir() if _is_unix_socket(each)]
    return len(children) + len(sockets)


def _is_unix_socket(descriptor: Path) -> bool:
    try:
        target = os.readlink(descriptor)
    except OSError:
        return False
    return target.startswith("socket:") and f" {target[8:-1]} " in Path("/proc/net/unix").read_text()


async def _in_turns(place: Path, *agents: Agent) -> list[list[float]]:
    """Return how long each agent took, turn by turn."""
    taken: list[list[float]] = [[] for _ in agents]
    for turn in range(ROUNDS + 1):
        for number, each in enumerate(agents):
            took = await _work(each, place / f"{turn} {number}")
            if turn:
                taken[number].append(took)
    return taken


async def _share(agent: Agent, place: Path) -> float:
    """Return how much of a core this process used while an agent talked, in percent."""
    tree = Path(tempfile.mkdtemp(dir=place))
    cpu, begun = time.process_time(), time.monotonic()
    await agent.run(_task(tree), _ignore)
    seconds = time.monotonic() - begun
    if seconds < OUTPUT_SECONDS:
        raise RuntimeError("the agent that talks did not work")
    return 100 * (time.process_time() - cpu) / seconds


def _processor_ms() -> float:
    """Return the processor time of this process and of its children that have ended."""
    return 1000 * sum(os.times()[:4])


async def _work(agent: Agent, tree: Path) -> float:
    """Let an agent work in a new tree; return milliseconds."""
    await anyio.to_thread.run_sync(tree.mkdir)
    begun = time.monotonic()
    outcome = await agent.run(_task(tree), _ignore)
    took = (time.monotonic() - begun) * 1000
    if isinstance(outcome, AgentFailure):
        raise RuntimeError(outcome.message)  # noqa: TRY004 - a failed measurement
    return took


def _task(tree: Path) -> AgentTask:
    return AgentTask("coding", 1, "Work.", tree, AgentLimits(seconds=120.0))


def _ignore(progress: AgentProgress) -> None:
    """Take progress."""


@asynccontextmanager
async def scripted_gateway() -> AsyncGenerator[ModelGateway]:
    """Serve a gateway to a model that answers at once."""
    async with scripted_model() as model, gateway_to(model) as gateway:
        yield gateway


def scripted_model() -> ScriptedModelServer:
    """Make a model that answers at once."""
    return ScriptedModelServer((Say("done"),))


def gateway_to(model: ScriptedModelServer) -> ModelGateway:
    """Make a gateway to a model that is served."""
    return ModelGateway(model.upstreams("key"), ListPrices(), NoLedger())


def built_in_agent(model: ScriptedModelServer) -> PydanticAiAgent:
    """Make the built-in agent, which asks its model from this process."""
    keys = ProviderKeys("", "key", None, model.upstreams()[Dialect.OPENAI_CHAT].base_url)
    build = recorded(
        lambda name: ConnectedModel(lambda client: build_model(name, keys, AS_USUAL, client)), NoLedger()
    )
    return PydanticAiAgent("openai-chat:scripted-model", build, run_process, Path(sys.executable))


def instant_agent(gateway: ModelGateway, sandbox: Sandbox) -> ExternalAgent:
    """Make an agent that asks its model once and is done."""
    return command_agent(["bash", "-c", _CALL], gateway, sandbox)


def command_agent(argv: list[str], gateway: ModelGateway, sandbox: Sandbox) -> ExternalAgent:
    """Make an agent of a command."""
    profile = AgentProfile.model_validate(
        {
            "driver": "command",
            "argv": argv,
            "dialect": "openai-chat",
            "readable": [str(each) for each in interpreter_paths(Path(sys.executable))],
            "env": {"TOKEN": "{token}"},
        }
    )
    installed = find_installed(profile, [Path("/usr/bin"), Path("/bin")], interpreter_paths)
    return ExternalAgent(
        "instant", profile, installed, "scripted-model", gateway, AgentPrograms(sandbox), interpreter_paths
    )
