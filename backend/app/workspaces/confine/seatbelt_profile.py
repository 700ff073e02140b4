"""Builds the profile for macOS's sandbox, which denies everything that the profile does not name."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_SYSTEM = ("/usr", "/bin", "/sbin", "/System", "/Library/Developer/CommandLineTools", "/private/var/db/dyld")
_SYSTEM_FILES = (
    *("/", "/etc", "/var", "/private", "/private/etc/passwd", "/private/etc/group"),
    *("/private/etc/hosts", "/private/etc/localtime", "/private/etc/protocols", "/private/etc/services"),
)
_SYSTEM_TREES = ("/private/etc/ssl", "/private/var/db/timezone")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty")
_LOOKUPS = ("com.apple.system.opendirectoryd.libinfo", "com.apple.system.logger")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatbeltLaunch:
    """One launch. All paths are absolute and without links, as the kernel sees them.

    Attributes:
        writable: directories or files that may be written.
        readable: directories or files that may be read. One below a writable directory stays read-only.
        sockets: unix sockets to which it may connect.
        ports: ports of the loopback that it may listen on and connect to.
        host_network: True allows the machine's network, False only the ports.
    """

    writable: Sequence[Path]
    readable: Sequence[Path]
    sockets: Sequence[Path] = ()
    ports: Sequence[int] = ()
    host_network: bool = False


def profile(launch: SeatbeltLaunch) -> str:
    """Return the profile in the language of `sandbox-exec`, where a later rule for a path overrides.

    Raises:
        ValueError: a path contains a line break.
    """
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            "(allow process-fork process-exec sysctl-read ipc-posix-shm ipc-posix-sem)",
            "(allow signal process-info* (target same-sandbox))",
            _rule("allow mach-lookup", (f'(global-name "{name}")' for name in _LOOKUPS)),
            *_files(launch),
            *_network(launch),
            "",
        ]
    )


def _files(launch: SeatbeltLaunch) -> Iterator[str]:
    places = (*launch.writable, *launch.readable)
    above = sorted({each for place in places for each in place.parents})
    system = [*map(Path, _SYSTEM), *map(Path, _SYSTEM_TREES)]
    yield _rule("allow file-read-metadata", map(_literal, above))
    yield _rule("allow file-read*", map(_literal, map(Path, (*_SYSTEM_FILES, *_DEVICES))))
    yield _rule("allow file-read*", map(_subpath, (*system, *places)))
    yield _rule("allow file-write-data file-ioctl", map(_literal, map(Path, _DEVICES)))
    if launch.writable:
        yield _rule("allow file-write*", map(_subpath, launch.writable))
    if launch.readable:
        yield _rule("deny file-write*", map(_subpath, launch.readable))


def _network(launch: SeatbeltLaunch) -> Iterator[str]:
    if launch.host_network:
        yield "(allow network*)"
        yield "(allow system-socket)"
        return
    for path in launch.sockets:
        yield _rule("allow network-outbound", [_literal(path)])
    for port in launch.ports:
        yield _rule("allow network-bind network-inbound", [f'(local ip "localhost:{port}")'])
        yield _rule("allow network-outbound", [f'(remote ip "localhost:{port}")'])


def _rule(what: str, filters: Iterable[str]) -> str:
    return "\n  ".join([f"({what}", *filters]) + ")"


def _literal(path: Path) -> str:
    return f"(literal {_quoted(path)})"


def _subpath(path: Path) -> str:
    return f"(subpath {_quoted(path)})"


def _quoted(path: Path) -> str:
    text = str(path)
    if "\n" in text or "\r" in text:
        raise ValueError(f"a path with a line break cannot be confined: {text!r}")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
