"""Plans the repairs of `doctor --fix`: packages, bubblewrap's AppArmor profile, ids for rootless engines.

Pure.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.schemas.modes import ConfinementKind

PROFILE_PATH = "/etc/apparmor.d/phaserunner-bwrap"
PROFILE = """\
# Lets bubblewrap, and no other program, make user namespaces. Written by `phaserunner doctor --fix`.
abi <abi/4.0>,
include <tunables/global>

profile phaserunner-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/phaserunner-bwrap>
}
"""
_FIRST_SUB_ID, _SUB_IDS = 100_000, 65_536
_INSTALL = {
    "debian": ("apt-get", "install", "--yes", "--no-install-recommends"),
    "fedora": ("dnf", "install", "--assumeyes"),
    "rhel": ("dnf", "install", "--assumeyes"),
    "arch": ("pacman", "--sync", "--noconfirm"),
    "suse": ("zypper", "--non-interactive", "install"),
    "alpine": ("apk", "add"),
}
"""Install commands by the `ID` or `ID_LIKE` of `/etc/os-release`."""

_PACKAGES = {"bwrap": "bubblewrap"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The facts about a machine that determine its repairs.

    Attributes:
        distribution: `ID` and `ID_LIKE` of `/etc/os-release`, most specific first.
        programs: the needed programs that are on PATH.
        userns_restricted: True if AppArmor keeps programs without a profile from creating user namespaces.
        profiled: True if there is a profile for bubblewrap.
        wsl: the version of the Windows Subsystem for Linux; 0 elsewhere.
        in_container: True if this machine is itself a container.
        user: name of the user.
        is_root: True if the user may change the system.
        has_sub_ids: True if the user has ids to assign to containers.
        sub_ids_end: the first id that is not assigned to any user.
        confinement: the chosen backend.
    """

    distribution: tuple[str, ...] = ()
    programs: frozenset[str] = frozenset()
    userns_restricted: bool = False
    profiled: bool = False
    wsl: int = 0
    in_container: bool = False
    user: str = ""
    is_root: bool = False
    has_sub_ids: bool = False
    sub_ids_end: int = 0
    confinement: ConfinementKind = ConfinementKind.BUBBLEWRAP


@dataclass(frozen=True, slots=True)
class Command:
    """A command that changes the system. `stdin` is its standard input."""

    argv: tuple[str, ...]
    stdin: str = ""

    def __str__(self) -> str:
        command = shlex.join(self.argv)
        return f"{command} <<'END'\n{self.stdin}END" if self.stdin else command


@dataclass(frozen=True, slots=True)
class Repair:
    """One step that repairs a machine.

    Attributes:
        why: what is missing, as a sentence.
        commands: the repair, one command after the other; empty if only people can do it.
        by_hand: what people must do if no command can.
    """

    why: str
    commands: tuple[Command, ...] = ()
    by_hand: str = ""


def repairs(machine: Machine) -> list[Repair]:
    """Return the repairs that a machine needs, in the order in which to make them."""
    found = [*_of_the_kernel(machine), *_of_packages(machine)]
    if machine.confinement is ConfinementKind.BUBBLEWRAP:
        found += _of_apparmor(machine)
    if machine.confinement is ConfinementKind.CONTAINER:
        found += _of_sub_ids(machine)
    return found


def _of_the_kernel(machine: Machine) -> Iterator[Repair]:
    if machine.wsl == 1:
        by_hand = "In PowerShell: wsl --list, then wsl --set-version NAME 2"
        yield Repair("WSL 1 has no user namespaces: nothing can be confined here.", by_hand=by_hand)
    if machine.in_container and machine.userns_restricted:
        by_hand = "Write the AppArmor profile on the host of this container (docs/confinement.md)."
        yield Repair("This container's host forbids user namespaces.", by_hand=by_hand)


def _of_packages(machine: Machine) -> Iterator[Repair]:
    needed = ["git"]
    if machine.confinement is ConfinementKind.BUBBLEWRAP:
        needed.append("bwrap")
    if machine.confinement is ConfinementKind.CONTAINER and not machine.programs & {"podman", "docker"}:
        needed += ["podman", "catatonit"]
    missing = [_PACKAGES.get(each, each) for each in needed if each not in machine.programs]
    if not missing:
        return
    install = next((_INSTALL[each] for each in machine.distribution if each in _INSTALL), None)
    why = f"Not installed: {', '.join(missing)}."
    if install is None:
        yield Repair(why, by_hand="Install with the package manager of this system.")
    else:
        yield Repair(why, (_as_root(machine, (*install, *missing)),))


def _of_apparmor(machine: Machine) -> Iterator[Repair]:
    if not machine.userns_restricted or machine.profiled or machine.in_container:
        return
    write = _as_root(machine, ("tee", PROFILE_PATH), PROFILE)
    load = _as_root(machine, ("apparmor_parser", "--replace", PROFILE_PATH))
    yield Repair("AppArmor prevents bubblewrap from creating user namespaces.", (write, load))


def _of_sub_ids(machine: Machine) -> Iterator[Repair]:
    # If both are installed, Podman is used. Docker assigns ids by itself.
    takes_docker = "docker" in machine.programs and "podman" not in machine.programs
    if machine.is_root or machine.has_sub_ids or takes_docker:
        return
    first = max(_FIRST_SUB_ID, machine.sub_ids_end)
    span = f"{first}-{first + _SUB_IDS - 1}"
    ids = ("--add-subuids", span, "--add-subgids", span)
    command = _as_root(machine, ("usermod", *ids, machine.user))
    yield Repair(
        f"{machine.user} has no subordinate ids for containers (/etc/subuid, /etc/subgid).", (command,)
    )


def _as_root(machine: Machine, argv: Sequence[str], stdin: str = "") -> Command:
    return Command(tuple(argv) if machine.is_root else ("sudo", *argv), stdin)
