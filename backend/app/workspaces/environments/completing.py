"""Completes an environment: with what old packages use without declaring it, and with what must be built."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread

from app.schemas.modes import EnvironmentBuild
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.environments.finishing import open_to_all
from app.workspaces.environments.launches import InstallError, Launches
from app.workspaces.environments.undeclared import IMPORTS_PKG_RESOURCES, WITH_PKG_RESOURCES
from app.workspaces.environments.uv_words import has_credentials
from app.workspaces.files.removal import remove_tree

_OF_OLD_PYTEST = "py>=1.11"
"""pytest brought this package until November 2022. Earlier ones do not work with Python 3.11."""

_DO_WITHOUT = frozenset({"_pytest", "pip", "setuptools"})
"""Packages that import it only where it is there."""
_MAX_FILES = 6000
_MAX_BYTES = 500_000

_SHARE = 0.5
"""Of the time that an installation has left, the share that builds may take. The rest stays left out."""


async def add_undeclared(by: Launches, *, old: bool, locked: bool) -> None:
    """Install what packages of old use without declaring it, because every environment had it.

    Args:
        by: launches programs.
        old: whether the packages are of the time when pytest brought `py`.
        locked: whether a lock decides on each release, also on that of setuptools.
    """
    wanted = [_OF_OLD_PYTEST] if old else []
    if await anyio.to_thread.run_sync(lacks_pkg_resources, by.env, locked):
        wanted.append(WITH_PKG_RESOURCES)
    for each in wanted:
        # Plug-ins and tests can do without it, or fail at the base, too.
        with suppress(InstallError):
            await by.run_uv(
                *("pip", "install", "--python", by.env_python, "--no-deps", "--no-build", each),
                network=by.options.network,
            )


async def build_missing(by: Launches, unbuilt: Mapping[str, str], limits: Sequence[str]) -> frozenset[str]:
    """Build and install what has no wheel, one requirement after the other.

    A build runs code of the package in the sandbox, as the tests do that import it later. It can reach public
    addresses, but neither the shared download cache nor the credentials of an index.

    Args:
        by: launches programs.
        unbuilt: by normalised name, the requirement.
        limits: uv's options for releases of the base's time; they are tried first.

    Returns:
        The names of what is installed now.
    """
    if by.options.build is not EnvironmentBuild.MISSING or has_credentials(by.options.env):
        return frozenset()
    if not (unbuilt and (await by.sandbox.state()).confined):
        return frozenset()
    cache = by.site / "build-cache"
    cache.mkdir()
    builder = replace(by, options=replace(by.options, build=EnvironmentBuild.ALWAYS), cache=cache)
    built: set[str] = set()
    left = anyio.current_effective_deadline() - anyio.current_time()
    with anyio.move_on_after(_SHARE * min(left, by.options.seconds)):
        for name, requirement in unbuilt.items():
            if await _is_built(builder, requirement, limits):
                built.add(name)
    await remove_tree(cache)
    return frozenset(built)


async def _is_built(by: Launches, requirement: str, limits: Sequence[str]) -> bool:
    file = by.given / "phaserunner-build.txt"
    file.write_text(requirement, encoding="utf-8")
    open_to_all(by.given)
    # A lock has a hash for everything, and all other packages are installed by now.
    options = ["--no-deps"] if "--hash" in requirement else []
    for tried in [limits, ()] if limits else [()]:
        with suppress(InstallError, SandboxUnavailableError):
            await by.run_uv(
                *("pip", "install", "--python", by.env_python, f"--requirements={file.name}"),
                *options,
                *tried,
                network=by.options.network,
            )
            return True
    return False


def lacks_pkg_resources(env: Path, locked: bool) -> bool:
    """Return True if an installed package imports `pkg_resources`, and nothing brings it."""
    for site in env.glob("lib/python3*/site-packages"):
        if (site / "pkg_resources").exists() or (locked and (site / "setuptools").exists()):
            return False
        others = (path for path in _modules(site) if path.relative_to(site).parts[0] not in _DO_WITHOUT)
        for count, path in enumerate(others):
            if count >= _MAX_FILES:
                break
            with suppress(OSError):
                if os.path.getsize(path) < _MAX_BYTES and IMPORTS_PKG_RESOURCES.search(path.read_bytes()):
                    return True
    return False


def _modules(site: Path) -> Sequence[Path]:
    return [
        Path(place, name)
        for place, _, names in os.walk(site)
        for name in names
        if name.endswith(".py") and not os.path.islink(os.path.join(place, name))
    ]
