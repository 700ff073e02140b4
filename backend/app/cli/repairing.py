"""Inspects this machine for `doctor --fix`, and makes the repairs to which the user agrees."""

import getpass
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from app.cli.repairs import PROFILE_PATH, Command, Machine, Repair, repairs
from app.cli.root import Root
from app.cli.terminal import Terminal
from app.schemas.modes import ConfinementKind
from app.workspaces.confine.launching import in_container

_PROGRAMS = ("git", "bwrap", "podman", "docker", "catatonit")
_RESTRICTION = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_PROFILES = (Path(PROFILE_PATH), Path("/etc/apparmor.d/bwrap-userns-restrict"), Path("/etc/apparmor.d/bwrap"))
_SUB_IDS = (Path("/etc/subuid"), Path("/etc/subgid"))


def repair(root: Root, terminal: Terminal, *, agreed: bool) -> None:
    """Show each repair that this machine needs, and make those to which the user agrees.

    Args:
        root: its standard input supplies the user's replies.
        terminal: where to write.
        agreed: True if the user agrees to every repair beforehand.
    """
    confinement = root.settings.CONFINEMENT or ConfinementKind.BUBBLEWRAP
    found = repairs(this_machine(root.user, confinement))
    if not found:
        terminal.say("Nothing to repair.")
    for each in found:
        _offer(each, root, terminal, agreed=agreed)


def this_machine(user: str, confinement: ConfinementKind) -> Machine:
    """Inspect this machine."""
    name = user or getpass.getuser()
    return Machine(
        distribution=_distribution(),
        programs=frozenset(each for each in _PROGRAMS if shutil.which(each)),
        userns_restricted=_text(_RESTRICTION).strip() == "1",
        profiled=any(each.exists() for each in _PROFILES),
        wsl=wsl_version(platform.release()),
        in_container=in_container(),
        user=name,
        is_root=os.geteuid() == 0,
        has_sub_ids=all(f"\n{name}:" in f"\n{_text(each)}" for each in _SUB_IDS),
        sub_ids_end=max(sub_ids_end(_text(each)) for each in _SUB_IDS),
        confinement=confinement,
    )


def wsl_version(kernel: str) -> int:
    """Return the version of the Windows Subsystem for Linux from the kernel's name; 0 elsewhere."""
    if "microsoft" not in kernel.lower():
        return 0
    return 2 if "wsl2" in kernel.lower() or "microsoft-standard" in kernel.lower() else 1


def sub_ids_end(text: str) -> int:
    """Return the first id that no line of a file such as `/etc/subuid` assigns; 0 without any line."""
    found = (re.fullmatch(r"[^:]*:(\d+):(\d+)", line.strip()) for line in text.splitlines())
    return max((int(each[1]) + int(each[2]) for each in found if each), default=0)


def _offer(each: Repair, root: Root, terminal: Terminal, *, agreed: bool) -> None:
    terminal.say(each.why, "bold")
    if not each.commands:
        terminal.say(f"  {each.by_hand}")
        return
    for command in each.commands:
        terminal.say("\n".join(f"  {line}" for line in str(command).splitlines()))
    if not agreed and not _agrees(root, terminal):
        terminal.say("  Not run.")
        return
    for command in each.commands:
        if not _run(command, terminal):
            return


def _agrees(root: Root, terminal: Terminal) -> bool:
    if not root.stdin.isatty():
        terminal.say("  Pass --yes to run this without being asked.")
        return False
    terminal.err.print("  Run this? [y/N] ", end="")
    return root.stdin.readline().strip().lower() in ("y", "yes")


def _run(command: Command, terminal: Terminal) -> bool:
    try:
        done = subprocess.run(
            command.argv, input=command.stdin or None, text=True, check=False, stdout=subprocess.DEVNULL
        )
    except OSError as error:
        terminal.say(f"  {command.argv[0]} cannot be started: {error.strerror}", "red")
        return False
    if done.returncode:
        terminal.say(f"  {command.argv[0]} ended with {done.returncode}.", "red")
    return done.returncode == 0


def _distribution() -> tuple[str, ...]:
    try:
        found: Mapping[str, str] = platform.freedesktop_os_release()
    except OSError:
        return ()
    return (found.get("ID", ""), *found.get("ID_LIKE", "").split())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
