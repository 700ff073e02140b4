"""What `doctor --fix` offers on different machines."""

import pytest

from app.cli.repairing import sub_ids_end, wsl_version
from app.cli.repairs import PROFILE, PROFILE_PATH, Machine, repairs
from app.schemas.modes import ConfinementKind

ALL = frozenset({"git", "bwrap", "podman", "catatonit"})


def said(machine: Machine) -> list[str]:
    return [str(command) for each in repairs(machine) for command in each.commands]


def test_a_machine_that_has_everything_needs_nothing() -> None:
    assert repairs(Machine(distribution=("debian",), programs=ALL)) == []


@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        pytest.param(
            ("ubuntu", "debian"),
            "sudo apt-get install --yes --no-install-recommends git bubblewrap",
            id="by what it is like",
        ),
        pytest.param(("fedora",), "sudo dnf install --assumeyes git bubblewrap", id="fedora"),
        pytest.param(("arch",), "sudo pacman --sync --noconfirm git bubblewrap", id="arch"),
        pytest.param(("alpine",), "sudo apk add git bubblewrap", id="alpine"),
    ],
)
def test_missing_packages_are_installed(distribution: tuple[str, ...], command: str) -> None:
    assert said(Machine(distribution=distribution)) == [command]


def test_an_unknown_system_is_left_to_people() -> None:
    (only,) = repairs(Machine(distribution=("plan9",)))
    assert (only.commands, "git, bubblewrap" in only.why) == ((), True)
    assert "package manager" in only.by_hand


def test_apparmor_gets_a_profile_for_bubblewrap_alone() -> None:
    write, load = said(Machine(programs=ALL, userns_restricted=True))
    assert write.startswith(f"sudo tee {PROFILE_PATH} <<'END'\n{PROFILE}")
    assert load == f"sudo apparmor_parser --replace {PROFILE_PATH}"
    assert "/usr/bin/bwrap" in PROFILE
    assert "sysctl" not in write + load


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(Machine(programs=ALL, userns_restricted=True, profiled=True), id="a profile is there"),
        pytest.param(
            Machine(
                programs=ALL, userns_restricted=True, confinement=ConfinementKind.CONTAINER, has_sub_ids=True
            ),
            id="containers confine",
        ),
        pytest.param(
            Machine(programs=ALL, is_root=True, confinement=ConfinementKind.CONTAINER), id="root needs no ids"
        ),
        pytest.param(Machine(programs=frozenset({"git"}), confinement=ConfinementKind.OFF), id="off"),
    ],
)
def test_nothing_is_offered_that_is_not_needed(machine: Machine) -> None:
    assert repairs(machine) == []


def test_rootless_containers_get_an_engine_and_ids() -> None:
    machine = Machine(
        distribution=("debian",),
        programs=frozenset({"git"}),
        user="ann",
        confinement=ConfinementKind.CONTAINER,
    )
    install, ids = said(machine)
    assert install.endswith("podman catatonit")
    assert ids == "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ann"


@pytest.mark.parametrize(
    ("engines", "offered"),
    [
        pytest.param({"docker"}, False, id="docker"),
        pytest.param({"docker", "podman"}, True, id="podman is taken before docker"),
    ],
)
def test_ids_are_offered_for_the_engine_that_is_taken(engines: set[str], offered: bool) -> None:
    machine = Machine(
        programs=frozenset({"git", *engines}), user="ann", confinement=ConfinementKind.CONTAINER
    )
    assert any("usermod" in command for command in said(machine)) is offered


def test_root_needs_no_sudo() -> None:
    assert said(Machine(distribution=("debian",), programs=frozenset({"git"}), is_root=True)) == [
        "apt-get install --yes --no-install-recommends bubblewrap"
    ]


def test_what_only_people_can_change_is_named() -> None:
    (wsl,) = repairs(Machine(programs=ALL, wsl=1))
    assert "wsl --set-version" in wsl.by_hand
    (container,) = repairs(Machine(programs=ALL, userns_restricted=True, in_container=True))
    assert (container.commands, "host" in container.by_hand) == ((), True)


@pytest.mark.parametrize(
    ("kernel", "version"),
    [
        ("4.4.0-19041-Microsoft", 1),
        ("5.15.153.1-microsoft-standard-WSL2", 2),
        ("6.8.0-45-generic", 0),
    ],
)
def test_wsl_is_known_by_its_kernel(kernel: str, version: int) -> None:
    assert wsl_version(kernel) == version


def test_ids_of_other_users_are_left_to_them() -> None:
    end = sub_ids_end("bob:100000:65536\neve:165536:65536\n# a remark\n")
    (ids,) = said(Machine(programs=ALL, user="ann", confinement=ConfinementKind.CONTAINER, sub_ids_end=end))
    assert ids == "sudo usermod --add-subuids 231072-296607 --add-subgids 231072-296607 ann"
    assert sub_ids_end("") == 0
