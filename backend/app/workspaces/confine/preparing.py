"""Prepares what every backend's launch needs: visible paths, a user, and the granted network access."""

import errno
import itertools
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from app.core.own_python import own_python
from app.workspaces.confine.bubblewrap import HOME, Identity, give_to, visible_without_asking
from app.workspaces.confine.confinement import GATEWAY_PORT, Confinement, Network, SandboxSettings
from app.workspaces.confine.egress import FORWARDER, EgressRules, forwarding, open_egress
from app.workspaces.confine.python_places import interpreter_paths

INSIDE_UID = 1000
# User numbers that no distribution uses. There are several, because the kernel counts processes per user.
_FIRST_UID, _UIDS = 60_600, 400
UIDS_INSIDE = frozenset(map(str, (INSIDE_UID, *range(_FIRST_UID, _FIRST_UID + _UIDS))))
"""The user numbers that a program may have inside, as `id -u` prints them."""

_INSIDE = {"HOME": HOME, "TMPDIR": "/tmp", "USER": "sandbox", "LOGNAME": "sandbox"}  # noqa: S108 - inside
# Installers repeat failed requests for minutes. Without a network that is useless.
_NO_RETRIES = {
    "npm_config_fetch_retries": "0",
    "PIP_RETRIES": "0",
    "CARGO_NET_RETRY": "0",
    "UV_HTTP_RETRIES": "0",
}
_turns = itertools.count(os.getpid() * 16)


def variables_inside(
    env: Mapping[str, str], confinement: Confinement, home: Path | None = None
) -> dict[str, str]:
    """Return the environment of a confined program: the given variables and those of the confinement.

    Args:
        home: the home directory to use if the confinement names none.
    """
    waits = _NO_RETRIES if confinement.network is Network.NONE else {}
    return {**waits, **env, **_INSIDE, "HOME": str(confinement.home or home or HOME)}


def with_places(confinement: Confinement, settings: SandboxSettings) -> Confinement:
    """Add the home directory and the paths that the operator lets every program read."""
    home = (confinement.home,) if confinement.home else ()
    return replace(
        confinement,
        writable=(*confinement.writable, *home),
        readable=(*settings.readable, *confinement.readable),
    )


async def identity_for(confinement: Confinement) -> Identity:
    """Choose the user for a program. As root, make that user the owner of the writable paths."""
    if os.geteuid() != 0:
        return Identity(INSIDE_UID, switch=False)
    uid = _FIRST_UID + next(_turns) % _UIDS
    await anyio.to_thread.run_sync(give_to, uid, confinement.writable)
    return Identity(uid, switch=True)


async def connected(
    argv: Sequence[str],
    confinement: Confinement,
    rules: EgressRules,
    owner: int | None,
    stack: AsyncExitStack,
    proxy_port: int = 0,
) -> tuple[Sequence[str], Confinement]:
    """Open the connections out of the sandbox. Return the command line that uses them and their confinement.

    Args:
        argv: the program and its arguments.
        confinement: says which connections to open.
        rules: what programs with a network may reach.
        owner: number of the user that may use them; None is this process's user.
        stack: closes the connections.
        proxy_port: port inside that leads to the proxy; 0 is any.
    """
    python = own_python()
    needed: list[Path] = []
    if confinement.gateway is not None:
        if owner is not None:
            await anyio.to_thread.run_sync(give_to, owner, (confinement.gateway.parent,))
        needed.append(confinement.gateway)
        argv = forwarding(python, GATEWAY_PORT, confinement.gateway, argv)
    if confinement.network is Network.PUBLIC:
        egress = await stack.enter_async_context(open_egress(rules, owner))
        needed.append(egress.path)
        argv = egress.command_line(python, argv, proxy_port)
    if needed:
        needed += [*interpreter_paths(python), FORWARDER]
    return argv, replace(confinement, readable=(*confinement.readable, *needed))


def check_visible(program: str, cwd: Path, confinement: Confinement) -> None:
    """Refuse a launch if its program, directory or paths do not exist or would not be visible.

    Raises:
        FileNotFoundError: one of them does not exist or would not be visible.
    """
    places = (*confinement.readable, *confinement.writable)
    for place in places:
        if not os.path.lexists(place):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
    needed = [cwd, *([Path(program)] if os.sep in program and confinement.image is None else [])]
    for path in needed:
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if not visible_without_asking(path) and not any(path.is_relative_to(each) for each in places):
            raise FileNotFoundError(
                errno.ENOENT, "not visible in the sandbox (SANDBOX_READABLE adds places)", str(path)
            )
