"""Runs uv and the compiler in the sandbox to create an environment, and interprets uv's failures."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.schemas.modes import EnvironmentBuild
from app.workspaces.confine.confinement import Confinement, Network
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.finishing import open_to_all
from app.workspaces.environments.outcome import EnvironmentUnavailable, Reason
from app.workspaces.environments.uv_words import local_places, reason_of
from app.workspaces.process import ProcessOutcome

_DETAIL_CHARS = 1500
_SELDOM_IMPORTED = r"/(?:tests?|pygments/(?:lexers|styles))/"
_OUTPUT_LIMIT = 20_000_000
_TRACEBACK = "Traceback (most recent call last)"
_INTERNAL_ERROR = 3
"""pytest's exit status if pytest or a plug-in breaks."""


class InstallError(Exception):
    """An environment cannot be created.

    Attributes:
        trouble: the message for people.
        said: uv's whole output.
    """

    def __init__(self, trouble: EnvironmentUnavailable, said: str = "") -> None:
        super().__init__(trouble.detail)
        self.trouble = trouble
        self.said = said


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOptions:
    """What the operator allows for installations.

    Attributes:
        network: whether packages may be downloaded. Otherwise only local indexes and the cache are used.
        build: which packages may be built from source, which runs their code in the sandbox.
        seconds: time limit for one installation.
        env: how uv reaches its indexes: their addresses, proxies and certificates.
        cache_size: limit in bytes; a larger download cache is emptied.
    """

    network: bool = True
    build: EnvironmentBuild = EnvironmentBuild.NEVER
    seconds: float = 300.0
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cache_size: int = 10_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """Launches programs to create one environment.

    Attributes:
        uv: the program.
        sandbox: confines uv, which may write to the new environment and to its download cache.
        options: what the operator allows.
        python: the interpreter of the environment.
        site: the directory for the environment and its input files.
        cache: the download cache.
        how: the files that determined the environment, for people.
    """

    uv: Path
    sandbox: Sandbox
    options: InstallOptions
    python: Path
    site: Path
    cache: Path
    how: str

    @property
    def building(self) -> bool:
        """True if uv may build whatever it chooses."""
        return self.options.build is EnvironmentBuild.ALWAYS

    @property
    def given(self) -> Path:
        """The directory of the files that uv reads."""
        return self.site / "given"

    @property
    def env(self) -> Path:
        """The directory in which the environment is created."""
        return self.site / "env"

    @property
    def env_python(self) -> str:
        """The environment's own interpreter, into which packages are installed."""
        return str(self.env / "bin" / "python")

    async def run_uv(self, *arguments: str, network: bool = False, cache: bool = True) -> ProcessOutcome:
        """Run uv.

        Raises:
            InstallError: it failed.
        """
        env = {
            **self.options.env,
            **({} if network else {"UV_OFFLINE": "1"}),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.site),
            "LC_ALL": "C.UTF-8",
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            # Environments share no file with the cache, so a change in one cannot affect others.
            "UV_LINK_MODE": "copy",
            "UV_CACHE_DIR": str(self.cache),
        }
        done = await self._run(
            [str(self.uv), *arguments, "--color=never"],
            env,
            Confinement(
                writable=(self.env, *([self.cache] if cache else [])),
                readable=(self.uv, *self._interpreter(), self.given, *local_places(self.options.env)),
                network=self._network(network),
            ),
        )
        if done.returncode != 0:
            said = done.stderr or done.stdout
            raise InstallError(self._trouble(said), said)
        return done

    async def pytest_works(self) -> bool:
        """Return False if pytest breaks down over one trivial test, with the plug-ins that are installed."""
        package = self.site / "start" / "package"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        (package / "test_start.py").write_text("def test_start():\n    assert True\n")
        open_to_all(package.parent)
        done = await self._run(
            [
                *(self.env_python, "-s", "-B", "-m", "pytest", "-q", "-c", os.devnull),
                *("-p", "no:cacheprovider", "--rootdir", str(package.parent), str(package)),
            ],
            {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.site), "LC_ALL": "C.UTF-8"},
            Confinement(readable=(self.env, package.parent, *self._interpreter())),
        )
        crashed = done.returncode != 0 and _TRACEBACK in done.stderr
        return done.returncode != _INTERNAL_ERROR and not crashed

    async def compile(self) -> None:
        """Compile the installed packages, because tests cannot write compiled files there.

        None of their code runs.
        """
        # The environment's own interpreter would run the packages' start-up code.
        compiler = [str(self.python), "-I", "-S", "-m", "compileall", "-q", "-j", "0"]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.site), "LC_ALL": "C.UTF-8"}
        # The exit status is ignored, because some packages contain files that are not valid for this Python
        # version.
        await self._run(
            [*compiler, "-x", _SELDOM_IMPORTED, str(self.env / "lib")],
            env,
            Confinement(writable=(self.env,), readable=self._interpreter()),
        )

    def _network(self, granted: bool) -> Network:
        """Return the network for a launch. uv alone is the operator's program; a build runs package code."""
        return Network.HOST if granted and not self.building else Network.public_if(granted)

    async def _run(
        self, argv: Sequence[str], env: Mapping[str, str], confinement: Confinement
    ) -> ProcessOutcome:
        return await self.sandbox.run(
            argv,
            cwd=self.given if self.given in confinement.readable else self.env,
            env=env,
            timeout=self.options.seconds,
            confinement=confinement,
            output_limit=_OUTPUT_LIMIT,
        )

    def _interpreter(self) -> tuple[Path, ...]:
        return interpreter_paths(self.python)

    def _trouble(self, said: str) -> EnvironmentUnavailable:
        detail = re.sub(r"(https?://)[^/@\s]*@", r"\1", said.replace(f"{self.site}/", "")).strip()
        detail = detail if len(detail) <= _DETAIL_CHARS else f"…{detail[-_DETAIL_CHARS:]}"
        reason = reason_of(said)
        if reason is Reason.BUILD and not self.building:
            detail += "\nENVIRONMENT_BUILD=always allows building whatever has no wheel."
        if reason is Reason.OFFLINE and not self.options.network:
            detail += "\nENVIRONMENT_NETWORK=false keeps uv from fetching packages."
        return EnvironmentUnavailable(reason, f"uv says, for {self.how}:\n{detail}")
