"""Builds a project's compiled modules in the sandbox, once for each state of their sources."""

import hashlib
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio.to_thread

from app.schemas.modes import EnvironmentBuild
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.environments.extensions.built import Built
from app.workspaces.environments.extensions.sources import build_requirements, is_compiled, state_of
from app.workspaces.environments.extensions.wheels import keep_compiled
from app.workspaces.environments.finishing import open_to_all
from app.workspaces.environments.launches import InstallError, InstallOptions, Launches
from app.workspaces.environments.laying import copy_tree
from app.workspaces.environments.outcome import Ready
from app.workspaces.environments.project import project_of
from app.workspaces.environments.reading import DeclarationError
from app.workspaces.environments.shelf import Shelf
from app.workspaces.files.removal import remove_tree

_FORMAT = "1"
_OUTPUT_BYTES = 1_000_000
_DETAIL_CHARS = 1500
_PATH = "/usr/local/bin:/usr/bin:/bin"


class _BuildError(Exception):
    """The modules cannot be built. The message is for people."""


@dataclass(frozen=True, slots=True)
class Extensions:
    """Lends the compiled modules of projects, built at first use.

    A build runs code of the project. It reaches no network, and sees only a copy of the tree and what the
    base's `[build-system]` requires, which uv installs before.

    Attributes:
        shelf: stores them.
        uv: the program.
        sandbox: confines the builds.
        options: what the operator allows for installations.
    """

    shelf: Shelf
    uv: Path
    sandbox: Sandbox
    options: InstallOptions = field(default_factory=InstallOptions)

    @asynccontextmanager
    async def lent(self, found: Ready, base: Path, trees: Sequence[Path]) -> AsyncGenerator[Built]:
        """Yield the compiled modules of trees. They stay in place while the block runs.

        Args:
            found: the environment in which they are loaded.
            base: the tree that says what the build requires.
            trees: those whose modules are wanted; one that compiles nothing needs none.
        """
        if not await self._are_wanted(base):
            yield Built()
            return
        places: dict[str, Path] = {}
        trouble = ""
        async with AsyncExitStack() as stack:
            for tree in trees:
                state = await anyio.to_thread.run_sync(state_of, tree)
                if state in places:
                    continue
                build = partial(self._build, found, base, tree)
                try:
                    modules = await stack.enter_async_context(self.shelf.built(_key(state, found), build))
                    places[state] = modules.place
                except _BuildError as error:
                    trouble = str(error)
            yield Built(places, trouble)

    async def _are_wanted(self, base: Path) -> bool:
        may_build = self.options.build is not EnvironmentBuild.NEVER and (await self.sandbox.state()).confined
        return may_build and await anyio.to_thread.run_sync(is_compiled, base)

    async def _build(self, found: Ready, base: Path, tree: Path, site: Path) -> None:
        work = site / "work"
        try:
            with anyio.fail_after(self.options.seconds):
                python = await self._install_requirements(found, base, work)
                wheel = await self._wheel(python, tree, work)
                await anyio.to_thread.run_sync(keep_compiled, wheel, tree, site)
            await remove_tree(work)
            await anyio.to_thread.run_sync(open_to_all, site)
        except TimeoutError as error:
            raise _BuildError(f"the build took longer than {self.options.seconds:g} seconds") from error
        except (InstallError, SandboxUnavailableError, DeclarationError, OSError, ValueError) as error:
            raise _BuildError(str(error)) from error

    async def _install_requirements(self, found: Ready, base: Path, work: Path) -> Path:
        """Create the environment of the build from wheels. Return its interpreter."""
        # Without `..`, but not resolved, because an environment is identified by the link to its interpreter.
        interpreter = Path(os.path.abspath(found.python))  # noqa: ASYNC240 - asks nothing of the file system
        launches = Launches(
            uv=self.uv,
            sandbox=self.sandbox,
            options=self.options,
            python=interpreter,
            site=work,
            cache=work / "cache",
            how="the build of the project",
        )
        for place in (launches.given, launches.env, launches.cache):
            place.mkdir(parents=True)
        wanted = await anyio.to_thread.run_sync(build_requirements, base)
        (launches.given / "requirements.txt").write_text("\n".join(wanted), encoding="utf-8")
        open_to_all(launches.given)
        await launches.run_uv("venv", "--python", str(interpreter), str(launches.env))
        if wanted:
            await launches.run_uv(
                *("pip", "install", "--python", launches.env_python, "--only-binary", ":all:"),
                *("--requirements", "requirements.txt"),
                network=self.options.network,
            )
        return launches.env / "bin" / "python"

    async def _wheel(self, python: Path, tree: Path, work: Path) -> Path:
        """Build a wheel of a tree with the environment of the build."""
        source, out, home = work / "source" / tree.name, work / "out", work / "home"
        await anyio.to_thread.run_sync(copy_tree, tree, source)
        for place in (out, home):
            place.mkdir()
        version = await anyio.to_thread.run_sync(_version_of, tree)
        done = await self.sandbox.run(
            [
                *(str(self.uv), "build", "--wheel", "--no-build-isolation", "--offline", "--color=never"),
                *("--python", str(python), "--out-dir", str(out), str(source)),
            ],
            cwd=source,
            env={
                "PATH": f"{python.parent}:{_PATH}",
                "VIRTUAL_ENV": str(python.parents[1]),
                "HOME": str(home),
                "LC_ALL": "C.UTF-8",
                "UV_NO_CONFIG": "1",
                "UV_NO_PROGRESS": "1",
                "UV_PYTHON_DOWNLOADS": "never",
                "UV_CACHE_DIR": str(home / "cache"),
                # The copy has no history from which the build could derive it.
                "SETUPTOOLS_SCM_PRETEND_VERSION": version,
                "PBR_VERSION": version,
            },
            timeout=self.options.seconds,
            confinement=Confinement(
                writable=(source, out, home),
                readable=(self.uv, python.parents[1], *interpreter_paths(python)),
            ),
            output_limit=_OUTPUT_BYTES,
        )
        wheels = sorted(out.glob("*.whl"))
        if done.returncode != 0 or not wheels:
            said = (done.stderr or done.stdout).replace(f"{source}/", "").strip()
            raise _BuildError(said if len(said) <= _DETAIL_CHARS else f"…{said[-_DETAIL_CHARS:]}")
        return wheels[0]


def _key(state: str, found: Ready) -> str:
    made = hashlib.sha256("\0".join((_FORMAT, state, found.key, os.fspath(found.python))).encode())
    return f"extensions-{made.hexdigest()[:40]}"


def _version_of(tree: Path) -> str:
    try:
        project = project_of(tree)
    except DeclarationError:
        project = None
    return (project and project.version) or "0"
