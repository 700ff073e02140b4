"""Agents' programs as they run: confined like test runs, with a home, and with no way out but the gateway."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import pytest

from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.running import LaunchedProgram
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE
from tests.unit.workspaces.confine.support import ENV, PYTHON
from tests.unit.workspaces.test_process import poll, wait_until_gone

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home of the agent"
    home.mkdir()
    return home


@asynccontextmanager
async def started(
    sandbox: Sandbox, place: Path, home: Path, code: str, gateway: Path | None = None
) -> AsyncGenerator[LaunchedProgram]:
    argv = [str(PYTHON), "-I", "-u", "-c", code]
    readable = interpreter_paths(Path(sys.executable))
    async with AgentPrograms(sandbox).start(
        argv, cwd=place, env=ENV, home=home, readable=readable, gateway=gateway
    ) as program:
        yield program


async def said(sandbox: Sandbox, place: Path, home: Path, code: str, gateway: Path | None = None) -> object:
    async with started(sandbox, place, home, code, gateway) as program, asyncio.timeout(PATIENCE):
        line = await program.stdout.readline()
        assert await program.wait() == 0, program.stderr()
        return json.loads(line)


async def test_it_has_a_home_that_stays_and_an_empty_temporary_directory(
    sandbox: Sandbox, place: Path, home: Path
) -> None:
    (home / "config").write_text("given")
    code = "import json, os, pathlib; h = pathlib.Path.home(); (h / 'kept').write_text('x'); "
    code += "print(json.dumps([str(h), (h / 'config').read_text(), os.environ['TMPDIR'], os.getcwd()]))"
    assert await said(sandbox, place, home, code) == [str(home), "given", "/tmp", str(place)]
    assert (home / "kept").read_text() == "x"


async def test_its_user_has_a_name_and_a_home(sandbox: Sandbox, place: Path, home: Path) -> None:
    code = "import json, os, pwd; u = pwd.getpwuid(os.getuid()); print(json.dumps([u.pw_name, u.pw_dir]))"
    assert await said(sandbox, place, home, code) == ["sandbox", str(home)]


async def test_nothing_but_workspace_and_home_can_be_written(
    sandbox: Sandbox, place: Path, home: Path
) -> None:
    code = f"""
import json
refused = []
for path in ("/usr/planted", "/etc/planted", "/planted", "../planted", {str(PYTHON.parent / "planted")!r}):
    try:
        open(path, "w")
    except OSError:
        refused.append(path)
print(json.dumps(len(refused)))
"""
    assert await said(sandbox, place, home, code) == 5
    assert not (place.parent / "planted").exists()


async def test_it_sees_neither_variables_nor_processes_of_the_service(
    sandbox: Sandbox, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    code = """
import json, os
pids = [name for name in os.listdir("/proc") if name.isdigit()]
print(json.dumps(["ANTHROPIC_API_KEY" in os.environ, len(pids) < 6, os.getuid() != 0]))
"""
    assert await said(sandbox, place, home, code) == [False, True, True]


ASK = """
import json, socket
def ask(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
            one.sendall(b"question")
            one.shutdown(socket.SHUT_WR)
            return one.recv(100).decode()
    except OSError as error:
        return type(error).__name__
print(json.dumps([ask(port) for port in {ports}]))
"""


async def test_the_gateway_is_the_only_way_out(sandbox: Sandbox, place: Path, home: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"answer to " + await reader.read())
        writer.close()

    directory = place.parent / "gateway"
    directory.mkdir()
    socket = directory / "socket"
    outside = await asyncio.start_server(answer, "127.0.0.1", 0)
    gateway = await asyncio.start_unix_server(answer, socket)
    async with outside, gateway:
        port = outside.sockets[0].getsockname()[1]
        ports = [AgentPrograms(sandbox).gateway_port, port]
        answers = await said(sandbox, place, home, ASK.format(ports=ports), socket)
    assert answers == ["answer to question", "ConnectionRefusedError"]


async def test_term_reaches_the_program_and_kill_everything(
    sandbox: Sandbox, place: Path, home: Path
) -> None:
    code = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("ready")
time.sleep(1000)
"""
    async with started(sandbox, place, home, code) as program:
        await program.stdout.readline()
        assert await program.terminate(PATIENCE) == 7
    deaf = code.replace("lambda *_: sys.exit(7)", "signal.SIG_IGN")
    async with started(sandbox, place, home, deaf) as program:
        await program.stdout.readline()
        assert await program.terminate(0.05) == -9


async def test_what_forks_away_ends_with_the_block(sandbox: Sandbox, place: Path, home: Path) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "1000.4711"])
    os._exit(0)
os.wait()
print("ready")
time.sleep(1000)
"""

    def sleepers() -> list[int]:
        found: list[int] = []
        for each in Path("/proc").iterdir():
            try:
                if each.name.isdigit() and b"1000.4711" in (each / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(each.name))
            except OSError:
                continue
        return found

    async with started(sandbox, place, home, code) as program:
        await program.stdout.readline()
        await anyio.to_thread.run_sync(poll, sleepers)
        escaped = sleepers()
    for each in escaped:
        await wait_until_gone(each)


async def test_a_program_that_cannot_be_found_is_named(sandbox: Sandbox, place: Path, home: Path) -> None:
    programs = AgentPrograms(sandbox)
    with pytest.raises(OSError, match="agent-nowhere"):
        async with programs.start(["/usr/bin/agent-nowhere"], cwd=place, env=ENV, home=home):
            pass
    async with programs.start(["agent-nowhere"], cwd=place, env=ENV, home=home) as program:
        assert await program.wait() == 127
        assert "agent-nowhere" in program.stderr()


async def test_without_a_sandbox_nothing_starts_unless_it_is_allowed(place: Path, home: Path) -> None:
    programs = AgentPrograms(Sandbox(program="/nowhere/bwrap"))
    with pytest.raises(OSError, match="SANDBOX=off"):
        await programs.confines()
    with pytest.raises(OSError, match="SANDBOX=off"):
        async with programs.start(["touch", "here"], cwd=place, env=ENV, home=home):
            pass
    assert os.listdir(home) == []
