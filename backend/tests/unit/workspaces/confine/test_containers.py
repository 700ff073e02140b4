"""What is particular to containers: images, what an engine cannot be given, and what a dead process left."""

import io
import os
import re
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.schemas.modes import ConfinementKind
from app.workspaces.confine.confinement import (
    Confinement,
    ContainerSettings,
    Network,
    SandboxSettings,
    SandboxState,
)
from app.workspaces.confine.container.engine import OWNER_LABEL, find_engine
from app.workspaces.confine.ownership import Places, own_directory, remove_leftovers
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.process import ProcessOutcome
from tests.unit.workspaces.confine.conftest import LIMITS
from tests.unit.workspaces.confine.containers import EngineHere
from tests.unit.workspaces.confine.support import ENV

pytestmark = pytest.mark.anyio

IMAGE = "localhost/own-system:1"


def _sandbox(containers: ContainerSettings) -> Sandbox:
    return Sandbox(SandboxSettings(limits=LIMITS, kind=ConfinementKind.CONTAINER, containers=containers))


@pytest.fixture(scope="module")
async def containers(engine: EngineHere) -> Sandbox:
    sandbox = _sandbox(engine.settings)
    state = await sandbox.state()
    if not state.confined:
        pytest.skip(state.detail)
    return sandbox


@pytest.fixture(scope="module")
def image(engine: EngineHere) -> str:
    """An image with a shell, two programs and a file of its own, made from programs of this machine."""
    files: dict[str, Path] = {}
    for name in ("sh", "cat", "id"):
        found = shutil.which(name, path="/usr/bin:/bin")
        assert found is not None
        files[f"bin/{name}"] = Path(found).resolve()
        said = subprocess.run(["ldd", found], capture_output=True, text=True, check=True).stdout
        files |= {each.lstrip("/"): Path(each).resolve() for each in said.split() if each.startswith("/")}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, file in files.items():
            archive.add(file, name)
        about = tarfile.TarInfo("etc/own-system")
        about.size = 4
        archive.addfile(about, io.BytesIO(b"own\n"))
    engine.say("import", "-", IMAGE, given=written.getvalue())
    return IMAGE


async def _run(sandbox: Sandbox, place: Path, *argv: str, **changes: object) -> ProcessOutcome:
    confinement = replace(Confinement(writable=(place,)), **changes)  # type: ignore[arg-type]
    return await sandbox.run(argv, cwd=place, env=ENV, timeout=60, confinement=confinement)


async def test_a_program_sees_the_system_of_its_image(containers: Sandbox, place: Path, image: str) -> None:
    code = 'cat /etc/own-system; test -e /usr/bin && echo shown; echo "$HOME"; echo x > "$HOME/x"'
    code += "; echo y > new; id -u"
    outcome = await _run(containers, place, "sh", "-c", code, image=image)
    assert outcome.returncode == 0, outcome.stderr
    own, home, user = outcome.stdout.split()
    assert (own, home) == ("own", "/home/sandbox")
    assert user != "0"
    assert (place / "new").read_text() == "y\n"


async def test_an_image_is_never_downloaded(containers: Sandbox, place: Path) -> None:
    with pytest.raises(SandboxUnavailableError, match=r"not on this machine.*podman.* pull localhost/none:1"):
        await _run(containers, place, "sh", "-c", ":", image="localhost/none:1")


async def test_a_program_in_an_image_has_no_network(containers: Sandbox, place: Path, image: str) -> None:
    with pytest.raises(SandboxUnavailableError, match=r"can have no network.*CONTAINER_IMAGE"):
        await _run(containers, place, "sh", "-c", ":", image=image, network=Network.PUBLIC)


async def test_what_an_engine_cannot_be_given_is_said(
    containers: Sandbox, place: Path, tmp_path: Path
) -> None:
    with pytest.raises(SandboxUnavailableError, match="KEY: its value has several lines"):
        await containers.run(
            ["true"],
            cwd=place,
            env={**ENV, "KEY": "a\nb"},
            timeout=10,
            confinement=Confinement(writable=(place,)),
        )
    colon = tmp_path / "a:b"
    colon.mkdir()
    with pytest.raises(SandboxUnavailableError, match="path with a colon"):
        await _run(containers, place, "true", readable=(colon,))


async def test_values_of_variables_come_through_as_they_are(containers: Sandbox, place: Path) -> None:
    values = {"TOKEN": "s3cret = #x", "QUOTED": "'a' \"b\" $HOME", "EMPTY": "", "LD_PRELOAD_X": "\\n"}
    code = 'printf "%s|" "$TOKEN" "$QUOTED" "$EMPTY" "$LD_PRELOAD_X"'
    outcome = await containers.run(
        ["sh", "-c", code],
        cwd=place,
        env={**ENV, **values},
        timeout=60,
        confinement=Confinement(writable=(place,)),
    )
    assert outcome.stdout == "".join(f"{each}|" for each in values.values())


async def test_no_container_is_left(containers: Sandbox, place: Path, engine: EngineHere) -> None:
    assert (await _run(containers, place, "sh", "-c", "sleep 600 & exit 3")).returncode == 3
    assert engine.containers() == []


async def test_containers_of_a_dead_process_are_removed(
    containers: Sandbox, engine: EngineHere, tmp_path: Path
) -> None:
    name = engine.say("image", "ls", "--quiet", "--filter", "reference=*phaserunner-system*").split()[0]
    for owner in ("dead", "alive"):
        engine.say("create", "--network", "none", "--label", f"{OWNER_LABEL}={owner}", name, "true")
    parent = tmp_path / "owned"
    with own_directory(parent, "alive"):
        with own_directory(parent, "dead"):
            pass
        found = await remove_leftovers(
            Places((parent,), remove_containers=(await find_engine(engine.settings)).remove_all_of)
        )
    assert found.processes == 1
    assert len(engine.containers()) == 1
    engine.say("rm", "--all", "--force")


@pytest.mark.parametrize(
    ("script", "about"),
    [
        pytest.param("echo Docker version 1; exit 0", "cannot be made|does not work", id="silent"),
        pytest.param("echo 'cannot connect to the daemon' >&2; exit 1", "cannot connect", id="no-daemon"),
        pytest.param(None, "CONTAINER_ENGINE: .* cannot be started", id="absent"),
    ],
)
async def test_an_engine_that_does_not_work_confines_nothing(
    tmp_path: Path, script: str | None, about: str
) -> None:
    program = tmp_path / "engine"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    state: SandboxState = await _sandbox(ContainerSettings((str(program),))).state()
    assert not state.allowed
    assert not state.confined
    found, _, advice = state.detail.partition("; ")
    assert found
    assert "Podman" in advice
    assert os.listdir(tmp_path) == ([] if script is None else ["engine"])
    assert re.search(about, found)
