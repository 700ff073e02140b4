"""Installs with uv in the sandbox: only wheels unless building is allowed, never code of the project."""

import fcntl
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from app.schemas.modes import EnvironmentBuild
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.environments.completing import add_undeclared, build_missing
from app.workspaces.environments.finishing import AlteredError, configuration_of, open_to_all, seal
from app.workspaces.environments.launches import InstallError, InstallOptions, Launches
from app.workspaces.environments.outcome import Concessions, EnvironmentUnavailable, Reason
from app.workspaces.environments.plan import LOCKED, PYLOCK, EnvironmentPlan
from app.workspaces.environments.project import ProjectMetadata
from app.workspaces.environments.pythons import Interpreter
from app.workspaces.environments.relaxing import InstallerInput, too_new
from app.workspaces.environments.shelf import size_of
from app.workspaces.files.origin import months_later
from app.workspaces.files.removal import remove_tree

_FIRST_RUNNER = "2023-08-01"
"""By then pytest 7.4 was released, the oldest that can run the tests. Older bases get it, too."""

_LAST_WITH_PY = "2022-11-01"

_ANY_DAY = "2100-01-01"
_MOST_LATER = 30
"""Limit on packages that get a release of today while the others are of the base's time."""

_LATER_MONTHS = (3, 12)
"""How long it takes until plug-ins fit a new pytest."""


@dataclass(frozen=True, slots=True)
class Installer:
    """Creates environments.

    Attributes:
        uv: the program.
        sandbox: confines uv, which may write to the new environment and to its download cache.
        cache: the download cache. Builds cannot see it, because what one leaves there would reach others.
        options: what the operator allows.
    """

    uv: Path
    sandbox: Sandbox
    cache: Path
    options: InstallOptions = field(default_factory=InstallOptions)

    async def install(self, plan: EnvironmentPlan, python: Interpreter, site: Path) -> Concessions:
        """Create an environment at `site / "env"`. `site` is an empty directory.

        Returns:
            What the environment lacks of the base's declarations.

        Raises:
            InstallError: the environment cannot be created.
        """
        try:
            async with self._cache_for(site) as cache:
                launches = Launches(
                    uv=self.uv,
                    sandbox=self.sandbox,
                    options=self.options,
                    python=python.path,
                    site=site,
                    cache=cache,
                    how=plan.how,
                )
                with anyio.fail_after(self.options.seconds):
                    return await _Steps(plan, launches).take()
        except AlteredError as error:
            raise InstallError(EnvironmentUnavailable(Reason.FAILED, str(error))) from error
        except TimeoutError as error:
            raise InstallError(
                EnvironmentUnavailable(
                    Reason.TIMED_OUT, f"the installation took longer than {self.options.seconds:g} seconds"
                )
            ) from error
        except SandboxUnavailableError as error:
            raise InstallError(EnvironmentUnavailable(Reason.SANDBOX, str(error))) from error
        except OSError as error:
            raise InstallError(EnvironmentUnavailable(Reason.FAILED, str(error))) from error

    @asynccontextmanager
    async def _cache_for(self, site: Path) -> AsyncGenerator[Path]:
        """Yield a download cache for one installation: the shared one if no other installation uses it."""
        private = site / "cache"
        await anyio.to_thread.run_sync(self.cache.mkdir, 0o755, True, True)
        lock = os.open(
            self.cache.with_name(f"{self.cache.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            # As root, each launch runs as another user, who becomes the cache's owner. So two cannot share
            # it.
            if self.options.build is EnvironmentBuild.ALWAYS or not _try(lock):
                private.mkdir()
                yield private
                await remove_tree(private)
                return
            yield self.cache
            if await anyio.to_thread.run_sync(size_of, self.cache) > self.options.cache_size:
                await remove_tree(self.cache)
        finally:
            os.close(lock)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps that create one environment."""

    plan: EnvironmentPlan
    by: Launches

    async def take(self) -> Concessions:
        asked = InstallerInput(self.plan, self.by.given, self.by.building)
        await anyio.to_thread.run_sync(self._write_files, asked)
        await self.by.run_uv("venv", "--relocatable", "--python", str(self.by.python), str(self.by.env))
        configuration = await anyio.to_thread.run_sync(configuration_of, self.by.env)
        if self.plan.export:
            locked = await self._export("--no-emit-workspace", "--no-emit-local")
            (self.by.given / LOCKED).write_text(locked)
        conceded = await self._install(asked)
        limits = time_limits(self.plan.newest) if self.plan.newest else []
        conceded = conceded.with_built(await build_missing(self.by, asked.unbuilt, limits))
        is_old = conceded.newer_pytest or "" < self.plan.newest <= _LAST_WITH_PY
        is_locked = bool(self.plan.export) or PYLOCK in self.plan.files
        await add_undeclared(self.by, old=is_old, locked=is_locked)
        wheels = await anyio.to_thread.run_sync(self._write_wheels, await self._members())
        if wheels:
            # This replaces a release that a dependency may have installed, because the candidate's code is
            # judged.
            await self.by.run_uv(
                *("pip", "install", "--python", self.by.env_python, "--no-deps", "--no-index"),
                *("--offline", "--no-cache", "--reinstall", *(f"./{each}" for each in wheels)),
                cache=False,
            )
        await self.by.compile()
        await anyio.to_thread.run_sync(seal, self.by.env, self.by.python, configuration)
        return conceded

    async def _export(self, *options: str) -> str:
        done = await self.by.run_uv(
            *("export", "--frozen", "--no-header", "--no-annotate", *options),
            *("--python", str(self.by.python), *self.plan.export),
        )
        return done.stdout

    async def _members(self) -> list[ProjectMetadata]:
        """Return the other projects of the tree, or those members of the workspace that its lock installs."""
        if not (self.plan.export and self.plan.members):
            return list(self.plan.members.values())
        lines = (await self._export("--only-emit-workspace")).splitlines()
        places = {line.removeprefix("-e ").partition(" ")[0].removeprefix("./") for line in lines}
        return [member for place, member in self.plan.members.items() if place in places]

    async def _install(self, asked: InstallerInput) -> Concessions:
        """Install releases from the base's time. Where the index has none from that time, install today's."""
        if not self.plan.newest:
            return await self._install_until(asked)
        if not await self._can_be_had(asked, time_limits(self.plan.newest)):
            # A requirement without a wheel today had none then. One with a wheel today may have had none
            # then.
            await self._install_until(asked, "--dry-run")
            if not (asked.conceded.count and await self._can_be_had(asked, time_limits(self.plan.newest))):
                return await self._install_until(asked)
        return await self._install_later_releases(asked)

    async def _install_later_releases(self, asked: InstallerInput) -> Concessions:
        """Replace releases of one time that do not work together, such as pytest 8.0 and its plug-ins."""
        for months in _LATER_MONTHS:
            if await self.by.pytest_works():
                return asked.conceded
            newest = months_later(self.plan.newest, months)
            if not (newest and await self._can_be_had(asked, [*time_limits(newest), "--upgrade"])):
                break
        if not await self.by.pytest_works():
            await self._install_until(asked, "--upgrade")
        return asked.conceded

    async def _can_be_had(self, asked: InstallerInput, limits: Sequence[str]) -> bool:
        """Install within limits. Return False if no releases satisfy them.

        A requirement without any release or wheel of that time gets today's, so that all others can be of it.
        """
        later: list[str] = []
        while True:
            try:
                await self._pip_install(asked, *limits, *map(_unlimited, later))
            except InstallError as error:
                if error.trouble.reason not in (Reason.UNRESOLVABLE, Reason.BUILD):
                    # An address that cannot be reached is gone at any time.
                    if not await anyio.to_thread.run_sync(asked.concede, error.trouble.reason, error.said):
                        raise
                    continue
                names = sorted(too_new(error.said).difference(later))
                later += names
                if not names or len(later) > _MOST_LATER:
                    return False
            else:
                return True

    async def _install_until(self, asked: InstallerInput, *options: str) -> Concessions:
        """Install. After each failure, try again with a further concession, if there is one."""
        while True:
            try:
                await self._pip_install(asked, *options)
            except InstallError as error:
                if not await anyio.to_thread.run_sync(asked.concede, error.trouble.reason, error.said):
                    raise
            else:
                return asked.conceded

    async def _pip_install(self, asked: InstallerInput, *options: str) -> None:
        await self.by.run_uv(
            *("pip", "install", "--python", self.by.env_python, *asked.arguments(), *options),
            network=self.by.options.network,
        )

    def _write_files(self, asked: InstallerInput) -> None:
        """Write the files for uv."""
        self.by.given.mkdir()
        self.by.env.mkdir()
        asked.write()
        open_to_all(self.by.given)

    def _write_wheels(self, members: Sequence[ProjectMetadata]) -> list[str]:
        """Write wheels with the metadata of the project and of members. Return their names."""
        projects = [self.plan.project] if self.plan.project is not None else []
        wheels = dict(each.wheel() for each in (*projects, *members))
        for name, content in wheels.items():
            (self.by.given / name).write_bytes(content)
        open_to_all(self.by.given)
        return list(wheels)


def _try(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def time_limits(newest: str) -> list[str]:
    """Return uv's options for an environment of some day, such as `2021-07-01`.

    Later releases do not count, apart from the first pytest that can run the tests. It fits old plug-ins and
    old ways of writing tests better than the pytest of today.
    """
    runner = [f"--exclude-newer-package=pytest={_FIRST_RUNNER}"] if newest < _FIRST_RUNNER else []
    return [f"--exclude-newer={newest}", *runner]


def _unlimited(name: str) -> str:
    """Return uv's option that lets releases of any day count for one package."""
    return f"--exclude-newer-package={name}={_ANY_DAY}"
