"""Which system calls a confined program cannot make; each is tried inside a real sandbox."""

import json
import platform
import struct
from pathlib import Path

import pytest

from app.workspaces.confine.container.seccomp_profile import seccomp_profile
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.confine.seccomp import syscall_filter
from tests.unit.workspaces.confine.support import run_python

pytestmark = pytest.mark.anyio

TRY = """
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
answers = {{}}
for name, number, arguments in {calls!r}:
    ctypes.set_errno(0)
    wrapped = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = libc.syscall(ctypes.c_long(number), *wrapped)
    answers[name] = errno.errorcode.get(ctypes.get_errno(), "") if answer == -1 else "allowed"
print(json.dumps(answers))
"""

KEYRING_OF_THE_SESSION = -3
NEW_USER_NAMESPACE = 0x10000000

CALLS = {
    "reading-the-session-keyring": ("keyctl", (11, KEYRING_OF_THE_SESSION, 0, 0), "EPERM"),
    "adding-a-key": ("add_key", (b"user", b"name", b"x", 1, KEYRING_OF_THE_SESSION), "EPERM"),
    "asking-for-a-key": ("request_key", (b"user", b"name", 0, 0), "EPERM"),
    "io_uring": ("io_uring_setup", (1, 0), "EPERM"),
    "a-user-namespace": ("unshare", (NEW_USER_NAMESPACE,), "EPERM"),
    "a-user-namespace-by-clone": ("clone", (NEW_USER_NAMESPACE | 17, 0, 0, 0, 0), "EPERM"),
    "clone3": ("clone3", (0, 0), "ENOSYS"),
    "bpf": ("bpf", (0, 0, 0), "EPERM"),
    "performance-events": ("perf_event_open", (0, 0, 0, 0, 0), "EPERM"),
    "mount": ("mount", (0, 0, 0, 0, 0), "EPERM"),
    "entering-a-namespace": ("setns", (0, 0), "EPERM"),
    "handles-of-files": ("open_by_handle_at", (0, 0, 0), "EPERM"),
    "the-kernel-log": ("syslog", (10, 0, 0), "EPERM"),
    "vsock": ("socket", (40, 1, 0), "EAFNOSUPPORT"),
    "the-kernel-crypto": ("socket", (38, 5, 0), "EAFNOSUPPORT"),
    "raw-packets": ("socket", (17, 3, 0), "EAFNOSUPPORT"),
    "a-large-segment": ("shmget", (0, 2_000_000, 0o1600), "EINVAL"),
    "a-segment-of-4-gib": ("shmget", (0, 2**32, 0o1600), "EINVAL"),
}

NUMBERS = {
    "x86_64": {
        "keyctl": 250, "add_key": 248, "request_key": 249, "io_uring_setup": 425, "unshare": 272, "clone": 56,
        "clone3": 435, "bpf": 321, "perf_event_open": 298, "mount": 165, "setns": 308,
        "open_by_handle_at": 304, "syslog": 103, "socket": 41, "shmget": 29,
    },
    "aarch64": {
        "keyctl": 219, "add_key": 217, "request_key": 218, "io_uring_setup": 425, "unshare": 97, "clone": 220,
        "clone3": 435, "bpf": 280, "perf_event_open": 241, "mount": 40, "setns": 268,
        "open_by_handle_at": 265, "syslog": 116, "socket": 198, "shmget": 194,
    },
}  # fmt: skip


async def test_dangerous_calls_are_refused(sandbox: Sandbox, place: Path) -> None:
    numbers = NUMBERS.get(platform.machine())
    if numbers is None:
        pytest.skip(f"no filter for {platform.machine()}")
    calls = [(about, numbers[name], arguments) for about, (name, arguments, _) in CALLS.items()]
    outcome = await run_python(sandbox, place, TRY.format(calls=calls))
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout) == {about: error for about, (_, _, error) in CALLS.items()}


async def test_what_test_suites_use_still_works(sandbox: Sandbox, place: Path) -> None:
    code = """
import json, multiprocessing, multiprocessing.shared_memory, socket, subprocess, sys, threading
thread = threading.Thread(target=print, args=("",)); thread.start(); thread.join()
subprocess.run([sys.executable, "-I", "-c", ""], check=True)
memory = multiprocessing.shared_memory.SharedMemory(create=True, size=1000); memory.close(); memory.unlink()
families = [socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK]
for family in families:
    socket.socket(family, socket.SOCK_STREAM if family != socket.AF_NETLINK else socket.SOCK_RAW).close()
left, right = socket.socketpair(); left.close(); right.close()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(json.dumps(pool.map(abs, [-1, -2])))
"""
    outcome = await run_python(sandbox, place, code)
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout.strip().splitlines()[-1]) == [1, 2]


def test_every_jump_of_the_filter_stays_inside_it() -> None:
    for machine in ("x86_64", "aarch64"):
        program = syscall_filter(machine)
        assert program is not None
        instructions = [struct.unpack("=HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
        assert len(instructions) < 4096
        for place, (code, if_true, if_false, _) in enumerate(instructions):
            if code & 0x07 == 0x05:
                assert place + 1 + max(if_true, if_false) < len(instructions)
        assert instructions[-1][:1] == (0x06,)


def test_an_unknown_machine_has_no_filter() -> None:
    assert syscall_filter("pdp11") is None


def test_containers_get_the_same_refusals_as_a_profile() -> None:
    for machine in ("x86_64", "aarch64"):
        profile = json.loads(seccomp_profile(machine) or b"{}")
        refused = {name for rule in profile["syscalls"] for name in rule["names"]}
        assert {name for name, _, _ in CALLS.values()} <= refused
        assert "execve" not in refused
    assert seccomp_profile("pdp11") is None
