"""What a confined program can reach, and what becomes of one that misbehaves; with the real bubblewrap."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import Confinement, Network, SandboxSettings
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from tests.unit.workspaces.confine.support import ENV, PYTHON, run_python, said

pytestmark = pytest.mark.anyio


async def test_the_workspace_is_at_its_place_and_can_be_written(sandbox: Sandbox, place: Path) -> None:
    code = "import json, os; open('new', 'w').write('x'); "
    code += "print(json.dumps([os.getcwd(), os.environ['PWD'], sorted(os.listdir())]))"
    assert await said(sandbox, place, code) == [str(place), str(place), ["here.txt", "new"]]
    assert (place / "new").read_text() == "x"


async def test_installers_do_not_repeat_what_cannot_succeed(sandbox: Sandbox, place: Path) -> None:
    code = "import json, os; print(json.dumps(os.environ.get('npm_config_fetch_retries')))"
    assert await said(sandbox, place, code) == "0"
    assert await said(sandbox, place, code, network=Network.PUBLIC) is None


ELSEWHERE = {
    "the system": "/usr/planted",
    "its configuration": "/etc/planted",
    "the root": "/planted",
    "the interpreter": str(PYTHON.parent / "planted"),
    "the kernel": "/proc/sys/kernel/hostname",
    "beside the workspace": "../planted",
}


async def test_nothing_else_can_be_written(sandbox: Sandbox, place: Path) -> None:
    code = f"""
import json
written = []
for name, path in {ELSEWHERE!r}.items():
    try:
        open(path, "w").write("x")
        written.append(name)
    except OSError:
        pass
print(json.dumps(written))
"""
    assert await said(sandbox, place, code) == []
    assert not (place.parent / "planted").exists()


async def test_a_readable_place_below_a_writable_one_stays_as_it_is(sandbox: Sandbox, place: Path) -> None:
    kept = place / "kept"
    kept.mkdir()
    (kept / "file").write_text("old")
    kept.chmod(0o755)
    outcome = await run_python(sandbox, place, "open('kept/file', 'w').write('new')", readable=(kept,))
    assert outcome.returncode == 1
    assert (kept / "file").read_text() == "old"


async def test_files_of_the_machine_are_not_there(sandbox: Sandbox, place: Path) -> None:
    (place.parent / "secret").write_text("secret")
    code = """
import json, os
places = ("/root/.bashrc", "/etc/shadow", "/run/lock", "/srv", "/var/lib", "../secret")
seen = [place for place in places if os.path.exists(place)]
print(json.dumps([seen, os.listdir("/tmp"), os.listdir(os.path.expanduser("~"))]))
"""
    seen, temporary, home = await said(sandbox, place, code)  # type: ignore[misc]
    assert seen == []
    # Where the checkout or the test lies below it, the way there is seen, and nothing beside it.
    ways = {each.parts[2] for each in (place, Path(sys.prefix)) if each.is_relative_to("/tmp")}
    assert set(temporary) <= ways
    assert home == []


async def test_no_variable_of_the_service_and_no_other_process_is_visible(
    sandbox: Sandbox, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    code = """
import json, os
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
files = [f"/proc/{pid}/environ" for pid in pids]
everything = "".join(open(file).read() for file in files if os.access(file, os.R_OK))
print(json.dumps(["ANTHROPIC_API_KEY" in os.environ, "secret" in everything, len(pids) < 5]))
"""
    assert await said(sandbox, place, code) == [False, False, True]


async def test_it_is_not_root_and_cannot_become_root(sandbox: Sandbox, place: Path) -> None:
    code = """
import json, os
lines = open("/proc/self/status").read().splitlines()
status = dict(line.split(":\\t", 1) for line in lines if ":\\t" in line)
print(json.dumps([os.getuid() != 0, os.getgid() != 0, int(status["CapEff"], 16), int(status["NoNewPrivs"])]))
"""
    assert await said(sandbox, place, code) == [True, True, 0, 1]


async def test_its_user_and_its_group_have_names(sandbox: Sandbox, place: Path) -> None:
    code = """
import grp, json, os, pwd
user = pwd.getpwuid(os.getuid())
print(json.dumps([user.pw_gid == os.getgid(), grp.getgrgid(os.getgid()).gr_name != "", user.pw_dir]))
"""
    assert await said(sandbox, place, code) == [True, True, "/home/sandbox"]


async def test_its_machine_has_a_name_with_an_address(sandbox: Sandbox, place: Path) -> None:
    code = "import json, socket; print(json.dumps(socket.gethostbyname(socket.gethostname())))"
    assert await said(sandbox, place, code) == "127.0.0.1"


CONNECT = """
import json, socket, sys
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=5).close()
    print(json.dumps("connected"))
except OSError as error:
    print(json.dumps(type(error).__name__))
"""


@pytest.mark.parametrize("network", [Network.NONE, Network.PUBLIC])
async def test_the_loopback_of_the_service_is_out_of_reach(
    sandbox: Sandbox, place: Path, network: Network
) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        answer = await said(sandbox, place, CONNECT.format(port=port), network=network)
    assert answer == "ConnectionRefusedError"


async def test_a_program_of_the_operator_may_have_the_whole_network(sandbox: Sandbox, place: Path) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        answer = await said(sandbox, place, CONNECT.format(port=port), network=Network.HOST)
    assert answer == "connected"


async def test_a_loopback_of_its_own_is_always_there(sandbox: Sandbox, place: Path) -> None:
    code = """
import json, socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
print(json.dumps(True))
"""
    assert await said(sandbox, place, code) is True


FORK_BOMB = """
import json, os, time
children = 0
try:
    while children < 1000:
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        children += 1
except OSError:
    pass
print(json.dumps(children))
"""


async def test_a_fork_bomb_is_bounded_and_leaves_no_process(sandbox: Sandbox, place: Path) -> None:
    started = await said(sandbox, place, FORK_BOMB)
    assert isinstance(started, int)
    assert 10 < started < 64
    assert _processes_in(place) == []


async def test_a_process_that_left_its_session_ends_at_the_deadline(sandbox: Sandbox, place: Path) -> None:
    code = "import os, time; os.fork() or os.setsid(); time.sleep(600)"
    outcome = await run_python(sandbox, place, code, timeout=1.0)
    assert outcome.timed_out
    assert _processes_in(place) == []


async def test_cancelling_the_caller_ends_everything(sandbox: Sandbox, place: Path) -> None:
    reading, writing = os.pipe()
    code = f"import os, time; os.fork() or os.setsid(); os.write({writing}, b'.'); time.sleep(600)"
    task = asyncio.create_task(run_python(sandbox, place, code, pass_fds=(writing,)))
    assert await asyncio.to_thread(os.read, reading, 1) == b"."
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _processes_in(place) == []


@pytest.mark.parametrize(
    ("code", "error"),
    [
        pytest.param("x = bytearray(2_000_000_000)", "MemoryError", id="memory"),
        pytest.param(
            "for name in ('f', 'g'): open('/tmp/' + name, 'wb').write(b'x' * 400_000_000)",
            "No space left",
            id="temporary-files",
        ),
    ],
)
async def test_what_it_may_use_is_bounded(sandbox: Sandbox, place: Path, code: str, error: str) -> None:
    outcome = await run_python(sandbox, place, code)
    assert outcome.returncode == 1
    assert error in outcome.stderr


async def test_a_single_file_is_bounded(place: Path) -> None:
    sandbox = Sandbox(SandboxSettings(limits=SandboxLimits(file_bytes=1_000_000)))
    if not (await sandbox.state()).confined:
        pytest.skip("no sandbox here")
    outcome = await run_python(sandbox, place, "open('large', 'wb').write(b'x' * 2_000_000)")
    assert outcome.returncode != 0
    assert (place / "large").stat().st_size <= 1_000_000


@pytest.mark.parametrize(
    ("code", "status"),
    [
        pytest.param("import sys; sys.exit(7)", 7, id="own-status"),
        pytest.param("import sys; sys.exit(125)", 125, id="the-status-of-an-engine-that-failed"),
        pytest.param("import os; os.kill(os.getpid(), 9)", 137, id="killed"),
        pytest.param("import ctypes; ctypes.string_at(0)", 139, id="segfault"),
    ],
)
async def test_the_exit_status_comes_through(sandbox: Sandbox, place: Path, code: str, status: int) -> None:
    assert (await run_python(sandbox, place, code)).returncode == status


async def test_descriptors_and_input_come_through(sandbox: Sandbox, place: Path) -> None:
    reading, writing = os.pipe()
    code = f"import os, sys; os.write({writing}, sys.stdin.buffer.read())"
    try:
        outcome = await run_python(sandbox, place, code, stdin=b"given", pass_fds=(writing,))
        assert outcome.returncode == 0
        assert os.read(reading, 100) == b"given"
    finally:
        os.close(reading)
        os.close(writing)


async def test_a_program_cannot_pretend_that_the_sandbox_failed(sandbox: Sandbox, place: Path) -> None:
    code = "import sys; sys.stderr.write('bwrap: Can\\'t mount proc\\n'); sys.exit(1)"
    assert (await run_python(sandbox, place, code)).returncode == 1


async def test_a_directory_that_only_its_owner_can_enter_is_no_obstacle(
    sandbox: Sandbox, place: Path
) -> None:
    place.chmod(0o700)  # noqa: ASYNC240
    (place / "here.txt").chmod(0o600)
    assert await said(sandbox, place, "import json; print(json.dumps(open('here.txt').read()))") == "here"


async def test_links_out_of_the_workspace_are_left_alone(sandbox: Sandbox, place: Path) -> None:
    outside = place.parent / "outside"
    outside.write_text("x")
    before = outside.stat().st_uid
    (place / "link").symlink_to(outside)
    assert await said(sandbox, place, "import json, os; print(json.dumps(os.path.exists('link')))") is False
    assert outside.stat().st_uid == before


@pytest.mark.parametrize(
    ("program", "about"),
    [
        pytest.param("/nowhere/tool", "No such file", id="absent"),
        pytest.param("{elsewhere}", "not visible in the sandbox", id="not-visible"),
    ],
)
async def test_a_program_that_is_not_there_is_said(
    sandbox: Sandbox, place: Path, program: str, about: str
) -> None:
    elsewhere = place.parent / "tool"
    elsewhere.write_text("#!/bin/sh\n")
    elsewhere.chmod(0o755)
    with pytest.raises(FileNotFoundError, match=about):
        await sandbox.run(
            [program.format(elsewhere=elsewhere)],
            cwd=place,
            env=ENV,
            timeout=10,
            confinement=Confinement(writable=(place,)),
        )


async def test_a_place_that_is_not_there_is_said(sandbox: Sandbox, place: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        await run_python(sandbox, place, "1", readable=(place / "missing",))


def _processes_in(place: Path) -> list[int]:
    """Processes that have a workspace as their directory."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink(f"/proc/{name}/cwd") == str(place):
                    found.append(int(name))
            except OSError:
                continue
    return found


async def test_a_service_installed_below_opt_is_not_visible(sandbox: Sandbox, place: Path) -> None:
    code = "import json, os; print(json.dumps([os.path.exists('/opt/'), os.access('/opt', os.R_OK)]))"
    on_the_way = any(each.is_relative_to("/opt") for each in (*interpreter_paths(PYTHON), place))
    assert await said(sandbox, place, code) == [on_the_way, on_the_way]


async def test_the_keys_of_the_service_are_not_listed(sandbox: Sandbox, place: Path) -> None:
    code = """
import json
found = []
for path in ("/proc/keys", "/proc/key-users"):
    try:
        found.append(open(path).read())
    except PermissionError:
        found.append("")
print(json.dumps(found))
"""
    assert await said(sandbox, place, code) == ["", ""]


async def test_temporary_files_of_all_kinds_are_bounded(sandbox: Sandbox, place: Path) -> None:
    code = """
import json, os
sizes = {}
for place in ("/tmp", "/var/tmp", os.path.expanduser("~"), "/dev/shm"):
    found = os.statvfs(place)
    sizes[os.path.realpath(place)] = found.f_blocks * found.f_frsize
print(json.dumps(sum(sizes.values())))
"""
    assert 1_000_000_000 < int(str(await said(sandbox, place, code))) < 1_200_000_000
