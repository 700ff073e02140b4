"""Names the user, group and machine of a confined program, because some programs fail without them."""

from collections.abc import Mapping

HOST = "sandbox"
"""The name of the machine inside."""

HOSTS = "/etc/hosts"
USERS = "/etc/passwd"
GROUPS = "/etc/group"


def account_lines(uid: int, gid: int, home: str) -> Mapping[str, str]:
    """Return the line to add to each of the system's account tables, by the table's path."""
    return {USERS: f"sandbox:x:{uid}:{gid}::{home}:/bin/sh", GROUPS: f"sandbox:x:{gid}:"}


def host_line() -> Mapping[str, str]:
    """Return the line that gives the machine's name an address, by the path of the table of hosts."""
    return {HOSTS: f"127.0.0.1 {HOST}"}


def with_line(table: bytes, line: str) -> bytes:
    """Return a table with one more line at its end."""
    return table.rstrip(b"\n") + b"\n" + line.encode() + b"\n"
