"""Installs with uv, confined: only wheels unless building is allowed, and no code of the judged project."""

import fcntl
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from app.workspaces.confine.confinement import Confinement, Network
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.environments.finishing import AlteredError, configuration_of, open_to_all, seal
from app.workspaces.environments.outcome import Concessions, Reason, Unavailable
from app.workspaces.environments.plan import LOCKED, Plan
from app.workspaces.environments.pythons import Interpreter
from app.workspaces.environments.relaxing import Asked
from app.workspaces.environments.shelf import size_of
from app.workspaces.environments.uv_words import local_places, reason_of
from app.workspaces.files.removal import remove_tree
from app.workspaces.process import ProcessOutcome

_DETAIL_CHARS = 1500
_SELDOM_IMPORTED = r"/(?:tests?|pygments/(?:lexers|styles))/"
_OUTPUT_LIMIT = 20_000_000


class InstallError(Exception):
    """An environment cannot be made.

    Attributes:
        trouble: the message for people.
        said: all that uv said.
    """

    def __init__(self, trouble: Unavailable, said: str = "") -> None:
        super().__init__(trouble.detail)
        self.trouble = trouble
        self.said = said


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOptions:
    """What the operator allows.

    Attributes:
        network: whether packages may be fetched; otherwise only local indexes and the cache serve.
        build: whether source distributions may be built, which runs their code, in the sandbox.
        seconds: for one installation.
        env: how uv reaches its indexes: their addresses, proxies, certificates.
        cache_size: bytes; a download cache that has grown beyond it is emptied.
    """

    network: bool = True
    build: bool = False
    seconds: float = 300.0
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cache_size: int = 10_000_000_000


@dataclass(frozen=True, slots=True)
class Installer:
    """Makes environments.

    Attributes:
        uv: the program.
        sandbox: confines it; it may write to the new environment and to its download cache.
        cache: the download cache. Builds do not see it: what one of them left there would reach others.
        options: what is allowed.
    """

    uv: Path
    sandbox: Sandbox
    cache: Path
    options: InstallOptions = field(default_factory=InstallOptions)

    async def install(self, plan: Plan, python: Interpreter, site: Path) -> Concessions:
        """Make an environment at `site / "env"`; `site` is an empty directory.

        Returns:
            What it lacks of what the base declares.

        Raises:
            InstallError: it cannot be made.
        """
        try:
            async with self._cache_for(site) as cache:
                steps = _Steps(self, plan, python, site, cache)
                with anyio.fail_after(self.options.seconds):
                    return await steps.take()
        except AlteredError as error:
            raise InstallError(Unavailable(Reason.FAILED, str(error))) from error
        except TimeoutError as error:
            raise InstallError(
                Unavailable(
                    Reason.TIMED_OUT, f"the installation took longer than {self.options.seconds:g} seconds"
                )
            ) from error
        except SandboxUnavailableError as error:
            raise InstallError(Unavailable(Reason.SANDBOX, str(error))) from error
        except OSError as error:
            raise InstallError(Unavailable(Reason.FAILED, str(error))) from error

    @asynccontextmanager
    async def _cache_for(self, site: Path) -> AsyncGenerator[Path]:
        """Yield a download cache for one installation: the shared one while it is free."""
        private = site / "cache"
        await anyio.to_thread.run_sync(self.cache.mkdir, 0o755, True, True)
        lock = os.open(
            self.cache.with_name(f"{self.cache.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            # As root each launch is another user, to whom the cache is given: two cannot share it at a time.
            if self.options.build or not _try(lock):
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
    """The launches that make one environment."""

    by: Installer
    plan: Plan
    python: Interpreter
    site: Path
    cache: Path

    @property
    def given(self) -> Path:
        return self.site / "given"

    @property
    def env(self) -> Path:
        return self.site / "env"

    async def take(self) -> Concessions:
        asked = Asked(self.plan, self.given, self.by.options.build)
        wheel = await anyio.to_thread.run_sync(self._write_files, asked)
        await self._uv("venv", "--relocatable", "--python", str(self.python.path), str(self.env))
        configuration = await anyio.to_thread.run_sync(configuration_of, self.env)
        if self.plan.export:
            locked = await self._uv(
                *(
                    "export",
                    "--frozen",
                    "--no-header",
                    "--no-annotate",
                    "--no-emit-workspace",
                    "--no-emit-local",
                ),
                *("--python", str(self.python.path), *self.plan.export),
            )
            (self.given / LOCKED).write_text(locked.stdout)
        conceded = await self._install(asked)
        if wheel:
            # In place of a release that a dependency brought along: what is judged is the candidate's code.
            await self._uv(
                *("pip", "install", "--python", str(self.env / "bin" / "python"), "--no-deps", "--no-index"),
                *("--offline", "--no-cache", "--reinstall", f"./{wheel}"),
                cache=False,
            )
        await self._compile()
        await anyio.to_thread.run_sync(seal, self.env, self.python.path, configuration)
        return conceded

    async def _install(self, asked: Asked) -> Concessions:
        """Install releases of the base's time, or of today where the index has none of that time."""
        if self.plan.newest:
            limit = f"--exclude-newer={self.plan.newest}"
            if await self._can_be_had(asked, limit):
                return asked.conceded
            # What has no wheel today had none then; what has one today may have had none yet.
            await self._install_until(asked, "--dry-run")
            if asked.conceded.count and await self._can_be_had(asked, limit):
                return asked.conceded
        return await self._install_until(asked)

    async def _can_be_had(self, asked: Asked, limit: str) -> bool:
        try:
            await self._pip_install(asked, limit)
        except InstallError as error:
            if error.trouble.reason not in (Reason.UNRESOLVABLE, Reason.BUILD):
                raise
            return False
        return True

    async def _install_until(self, asked: Asked, *options: str) -> Concessions:
        """Install; where that fails, again with less, as long as the project itself can do without it."""
        while True:
            try:
                await self._pip_install(asked, *options)
            except InstallError as error:
                if not await anyio.to_thread.run_sync(asked.concede, error.trouble.reason, error.said):
                    raise
            else:
                return asked.conceded

    async def _pip_install(self, asked: Asked, *options: str) -> None:
        python = str(self.env / "bin" / "python")
        await self._uv(
            *("pip", "install", "--python", python, *asked.arguments(), *options),
            network=self.by.options.network,
        )

    def _write_files(self, asked: Asked) -> str:
        """Write what uv reads; give the name of the wheel with the project's metadata, if there is one."""
        self.given.mkdir()
        self.env.mkdir()
        asked.write()
        wheel = ""
        if self.plan.project is not None:
            wheel, content = self.plan.project.wheel()
            (self.given / wheel).write_bytes(content)
        open_to_all(self.given)
        return wheel

    def _network(self, granted: bool) -> Network:
        """uv alone is the operator's program; a build runs code of packages."""
        return Network.HOST if granted and not self.by.options.build else Network.public_if(granted)

    async def _uv(self, *arguments: str, network: bool = False, cache: bool = True) -> ProcessOutcome:
        env = {
            **self.by.options.env,
            **({} if network else {"UV_OFFLINE": "1"}),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.site),
            "LC_ALL": "C.UTF-8",
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            # Environments share no file with the cache, so that nothing done to one shows in another.
            "UV_LINK_MODE": "copy",
            "UV_CACHE_DIR": str(self.cache),
        }
        done = await self._run(
            [str(self.by.uv), *arguments, "--color=never"],
            env,
            Confinement(
                writable=(self.env, *([self.cache] if cache else [])),
                readable=(self.by.uv, *self._interpreter(), self.given, *local_places(self.by.options.env)),
                network=self._network(network),
            ),
        )
        if done.returncode != 0:
            said = done.stderr or done.stdout
            raise InstallError(self._trouble(said), said)
        return done

    async def _compile(self) -> None:
        """Compile what was installed, for the tests cannot leave compiled files there; no code of it runs."""
        # Not the environment's own interpreter: starting that would run what packages have it run at start.
        compiler = [str(self.python.path), "-I", "-S", "-m", "compileall", "-q", "-j", "0"]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.site), "LC_ALL": "C.UTF-8"}
        # Some packages hold files that are no Python of this version: its exit status says nothing.
        await self._run(
            [*compiler, "-x", _SELDOM_IMPORTED, str(self.env / "lib")],
            env,
            Confinement(writable=(self.env,), readable=self._interpreter()),
        )

    async def _run(
        self, argv: Sequence[str], env: Mapping[str, str], confinement: Confinement
    ) -> ProcessOutcome:
        return await self.by.sandbox.run(
            argv,
            cwd=self.given if self.given in confinement.readable else self.env,
            env=env,
            timeout=self.by.options.seconds,
            confinement=confinement,
            output_limit=_OUTPUT_LIMIT,
        )

    def _interpreter(self) -> tuple[Path, ...]:
        return interpreter_paths(self.python.path)

    def _trouble(self, said: str) -> Unavailable:
        detail = re.sub(r"(https?://)[^/@\s]*@", r"\1", said.replace(f"{self.site}/", "")).strip()
        detail = detail if len(detail) <= _DETAIL_CHARS else f"…{detail[-_DETAIL_CHARS:]}"
        reason = reason_of(said)
        if reason is Reason.BUILD and not self.by.options.build:
            detail += "\nENVIRONMENT_BUILD=true allows building what has no wheel."
        if reason is Reason.OFFLINE and not self.by.options.network:
            detail += "\nENVIRONMENT_NETWORK=false keeps uv from fetching packages."
        return Unavailable(reason, f"uv says, for {self.plan.how}:\n{detail}")


def _try(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
