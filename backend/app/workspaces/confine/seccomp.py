"""The system calls that a confined program may not make, as a kernel filter.

The filter is a deny list in classic BPF, the form that `bwrap --seccomp` and seccomp(2) take. It blocks what
namespaces leave open: keyrings of the user, nested user namespaces, kernel interfaces with a history of
escapes, and address families that reach beyond the network namespace. The list follows the default profile of
container engines, but allows the calls that test suites need (ptrace, personality and chroot).
"""

import errno
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _JUMP_GREATER, _RETURN = 0x20, 0x15, 0x45, 0x25, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST, _SECOND, _SECOND_UPPER = 16, 24, 28
"""Offsets in `struct seccomp_data` of the lower half of arguments, and of an upper half (little-endian)."""

_X32_BIT = 0x40000000
NEW_USER_NAMESPACE = 0x10000000
LARGEST_SEGMENT = 1_048_576
"""Bytes of one System V segment. No process is charged for its memory, and databases need a page at most."""

FAMILIES = (16 + 1, 21, 29, 30, 31, 38, 40, 44)
"""AF_PACKET, RDS, CAN, TIPC, BLUETOOTH, ALG, VSOCK and XDP (linux/socket.h)."""

FORBIDDEN = (
    *("add_key", "keyctl", "request_key"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("bpf", "perf_event_open", "userfaultfd", "fanotify_init", "lookup_dcookie"),
    *("mount", "umount2", "pivot_root", "setns", "fsopen", "fsmount", "fspick", "move_mount", "open_tree"),
    *("mount_setattr", "open_by_handle_at", "name_to_handle_at", "quotactl", "quotactl_fd"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"),
    *("swapon", "swapoff", "acct", "syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex"),
    *("iopl", "ioperm", "vhangup", "nfsservctl"),
)

_X86_64 = {
    "socket": 41, "shmget": 29, "clone": 56, "unshare": 272, "clone3": 435, "socketpair": 53,
    "add_key": 248, "request_key": 249, "keyctl": 250,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "fanotify_init": 300, "lookup_dcookie": 212,
    "mount": 165, "umount2": 166, "pivot_root": 155, "setns": 308, "fsopen": 430, "fsmount": 432,
    "fspick": 433, "move_mount": 429, "open_tree": 428, "mount_setattr": 442, "open_by_handle_at": 304,
    "name_to_handle_at": 303, "quotactl": 179, "quotactl_fd": 443,
    "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313,
    "delete_module": 176, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "syslog": 103,
    "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
    "iopl": 172, "ioperm": 173, "vhangup": 153, "nfsservctl": 180,
}  # fmt: skip
"""Numbers of arch/x86/entry/syscalls/syscall_64.tbl."""

_AARCH64 = {
    "socket": 198, "shmget": 194, "clone": 220, "unshare": 97, "clone3": 435, "socketpair": 199,
    "add_key": 217, "request_key": 218, "keyctl": 219,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "fanotify_init": 262, "lookup_dcookie": 18,
    "mount": 40, "umount2": 39, "pivot_root": 41, "setns": 268, "fsopen": 430, "fsmount": 432,
    "fspick": 433, "move_mount": 429, "open_tree": 428, "mount_setattr": 442, "open_by_handle_at": 265,
    "name_to_handle_at": 264, "quotactl": 60, "quotactl_fd": 443,
    "kexec_load": 104, "kexec_file_load": 294, "init_module": 105, "finit_module": 273,
    "delete_module": 106, "reboot": 142, "swapon": 224, "swapoff": 225, "acct": 89, "syslog": 116,
    "settimeofday": 170, "clock_settime": 112, "clock_adjtime": 266, "adjtimex": 171,
    "vhangup": 58, "nfsservctl": 42,
}  # fmt: skip
"""Numbers of include/uapi/asm-generic/unistd.h; the port calls of x86 do not exist there."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """One kind of processor: its number in linux/audit.h, and its system calls."""

    audit: int
    numbers: Mapping[str, int] = field(repr=False)


_MACHINES = {"x86_64": _Machine(0xC000003E, _X86_64), "aarch64": _Machine(0xC00000B7, _AARCH64)}


def syscall_filter(machine: str) -> bytes | None:
    """Return the filter for a machine, named as by `platform.machine()`, or None if it is unknown.

    A forbidden call fails with EPERM. clone3 fails with ENOSYS, because a filter cannot read its flags, and
    libraries then fall back to clone. Calls of another architecture or of x32 fail with ENOSYS.
    """
    kind = _MACHINES.get(machine)
    if kind is None:
        return None
    return b"".join(_instructions(kind))


def _instructions(kind: _Machine) -> Iterator[bytes]:
    numbers = kind.numbers
    yield _statement(_LOAD, _ARCHITECTURE)
    yield _jump(_JUMP_EQUAL, kind.audit, 1, 0)
    yield _fail(errno.ENOSYS)
    yield _statement(_LOAD, _NUMBER)
    if kind.audit == _MACHINES["x86_64"].audit:
        yield _jump(_JUMP_ANY_BIT, _X32_BIT, 0, 1)
        yield _fail(errno.ENOSYS)
    for name in FORBIDDEN:
        if name in numbers:
            yield from _refused(numbers[name], errno.EPERM)
    yield from _refused(numbers["clone3"], errno.ENOSYS)
    user_namespace = [(_FIRST, _JUMP_ANY_BIT, NEW_USER_NAMESPACE)]
    for name in ("clone", "unshare"):
        yield from _refused_with(numbers[name], user_namespace, errno.EPERM)
    families = [(_FIRST, _JUMP_EQUAL, family) for family in FAMILIES]
    for name in ("socket", "socketpair"):
        yield from _refused_with(numbers[name], families, errno.EAFNOSUPPORT)
    large = [(_SECOND_UPPER, _JUMP_GREATER, 0), (_SECOND, _JUMP_GREATER, LARGEST_SEGMENT)]
    yield from _refused_with(numbers["shmget"], large, errno.EINVAL)
    yield _statement(_RETURN, _ALLOW)


def _refused(number: int, code: int) -> Iterator[bytes]:
    yield _jump(_JUMP_EQUAL, number, 0, 1)
    yield _fail(code)


def _refused_with(number: int, tests: list[tuple[int, int, int]], code: int) -> Iterator[bytes]:
    """Refuse a call if one test holds. A test is an argument's offset, a comparison and a value."""
    yield _jump(_JUMP_EQUAL, number, 0, 3 * len(tests) + 1)
    for place, comparison, value in tests:
        yield _statement(_LOAD, place)
        yield _jump(comparison, value, 0, 1)
        yield _fail(code)
    yield _statement(_RETURN, _ALLOW)


def _statement(code: int, value: int) -> bytes:
    return _jump(code, value, 0, 0)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    """Return one `struct sock_filter`: code, jumps and value, in the machine's byte order."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _fail(code: int) -> bytes:
    return _statement(_RETURN, _ERROR | code)


class FilterFile:
    """This machine's filter as a descriptor for one launch, open while entered.

    Attributes:
        descriptor: where bubblewrap reads the filter; None if this machine has none.
    """

    def __init__(self, program: bytes | None) -> None:
        self._program = program
        self.descriptor: int | None = None

    def __enter__(self) -> Self:
        if self._program is not None:
            self.descriptor = os.memfd_create("filter")
            os.write(self.descriptor, self._program)
            os.lseek(self.descriptor, 0, os.SEEK_SET)
        return self

    def __exit__(self, *_: object) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that bubblewrap must inherit."""
        return () if self.descriptor is None else (self.descriptor,)
