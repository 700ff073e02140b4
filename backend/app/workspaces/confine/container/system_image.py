"""An empty image into which this machine's system directories are mounted."""

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from app.workspaces.confine.bubblewrap import HOME, SYSTEM, etc_names, visible_without_asking
from app.workspaces.confine.container.engine import Engine
from app.workspaces.confine.running import SandboxUnavailableError

_NAME = "localhost/phaserunner-system"
_DIRECTORIES = ("etc", "var", "home", "proc", "sys", "dev", "run")
_FOR_EVERYBODY = ("tmp", HOME.strip("/"))
"""Directories with a mode that temporary file systems mounted there adopt."""

# The engine writes its own table of hosts. The user and group tables get a line for the program's account.
_MADE_PER_LAUNCH = frozenset({"hosts", "passwd", "group"})


async def system_image(engine: Engine) -> str:
    """Return the name of the image. Create the image if the engine does not have it yet.

    Raises:
        SandboxUnavailableError: it cannot be created.
    """
    archive = _archive()
    name = f"{_NAME}:{hashlib.sha256(archive).hexdigest()[:16]}"
    if not await engine.has_image(name):
        outcome = await engine.call("import", "-", name, stdin=archive)
        if outcome.returncode != 0:
            told = outcome.stderr.strip()[-300:]
            raise SandboxUnavailableError(f"the system image cannot be created: {told}")
    return name


def system_places() -> Iterator[tuple[Path, Path]]:
    """Yield each system path of this machine that every program sees, with the path inside."""
    for name in SYSTEM:
        place = Path(name)
        if place.is_dir() and not place.is_symlink():
            yield place, place
    for name in etc_names():
        place = Path("/etc", name)
        if name not in _MADE_PER_LAUNCH and os.access(place, os.R_OK):
            # The link is resolved here, because only the image could hold it inside.
            target = place.resolve()
            yield (target if visible_without_asking(target) else place), place


def _archive() -> bytes:
    """Return the image's only layer: directories, and the system's links such as /bin.

    The bytes never vary.
    """
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name in SYSTEM:
            if os.path.islink(name):
                link = tarfile.TarInfo(name.strip("/"))
                link.type, link.linkname, link.mode = tarfile.SYMTYPE, os.readlink(name), 0o777
                archive.addfile(link)
        for name in (*_DIRECTORIES, *_FOR_EVERYBODY):
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, 0o1777 if name in _FOR_EVERYBODY else 0o755
            archive.addfile(directory)
        temporary = tarfile.TarInfo("var/tmp")
        temporary.type, temporary.linkname = tarfile.SYMTYPE, "/tmp"  # noqa: S108 - inside
        archive.addfile(temporary)
    return written.getvalue()
