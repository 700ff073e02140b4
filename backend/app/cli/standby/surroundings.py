"""Describes what a hook and its standby process must have in common.

Every hook imports this module first, so it imports only what Python imports at its start anyway.
"""

import os
import sys

_FORMAT = "1"
_NAMESPACES = ("ipc", "mnt", "net", "pid", "user", "uts")
_STATUS = ("Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp")
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_")


def surroundings() -> str:
    """Describe this process: program, confinement, limits, and the variables that Python reads at its start.

    Raises:
        OSError: the system does not provide the information, as outside of Linux.
    """
    program = [_FORMAT, sys.executable, sys.version, __file__, os.uname().nodename]
    variables = sorted(f"{name}={value}" for name, value in interpreter_variables().items())
    priority = str(os.getpriority(os.PRIO_PROCESS, 0))
    return "\n".join([*program, priority, *confinement_of("self"), *variables])


def interpreter_variables() -> dict[str, str]:
    """Return the environment variables that a running interpreter cannot adopt from another one."""
    given = os.environ.items()  # noqa: TID251 - asked before any setting is read
    return {name: value for name, value in given if name.startswith(_OF_THE_INTERPRETER)}


def confinement_of(process: int | str) -> list[str]:
    """Describe what the system allows a process: users, capabilities, filters, limits, label, namespaces.

    Args:
        process: its id, or `self`.

    Raises:
        OSError: the system does not provide the information.
    """
    place = f"/proc/{process}"
    with open(f"{place}/status", encoding="utf-8", errors="replace") as file:
        status = [line for line in file if line.startswith(_STATUS)]
    with open(f"{place}/limits", encoding="utf-8") as file:
        limits = file.read()
    try:
        with open(f"{place}/attr/current", encoding="utf-8", errors="replace") as file:
            label = file.read()
    except OSError:  # no security module
        label = ""
    links = [os.readlink(f"{place}/{each}") for each in ("root", *(f"ns/{name}" for name in _NAMESPACES))]
    return [*status, limits, label, *links]
