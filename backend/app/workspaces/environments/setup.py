"""Runs a project's own set-up once for each state of its lock files, and keeps the result."""

import hashlib
import json
import os
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio.to_thread

from app.workspaces.confine.confinement import Confinement, Network
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.environments.laying import Kept, copy_tree, keep_new
from app.workspaces.environments.locks import lock_files_of, with_locks_of
from app.workspaces.environments.masking import mask
from app.workspaces.environments.shelf import Shelf
from app.workspaces.environments.uv_words import local_places
from app.workspaces.process import ProcessOutcome

_OUTPUT_BYTES = 200_000
_DETAIL_CHARS = 1500
_FORMAT = "2"
_PASSED_ON = frozenset(
    {
        *("NPM_CONFIG_REGISTRY", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "YARN_REGISTRY"),
        *("GOPROXY", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "CARGO_HTTP_CAINFO"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"),
    }
)


_TOOLS = ("node", "npm", "go", "cargo", "java")


class SetupError(Exception):
    """A project's set-up failed. The message is for people and holds no secret.

    Attributes:
        retryable: True if a later try may succeed.
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A project's set-up.

    Attributes:
        lines: commands for `sh -c`, run in this order.
        lock_files: globs of further files; if one of them changes, the set-up runs again.
        network: whether it reaches public addresses over HTTP and HTTPS.
        secrets: variables with values that are masked in output.
        seconds: time limit for all lines together.
        directory: where it starts, below the tree.
    """

    lines: tuple[str, ...]
    lock_files: tuple[str, ...] = ()
    network: bool = False
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    seconds: float = 600.0
    directory: str = ""

    def key(self, tree: Path, surroundings: Sequence[object] = ()) -> str:
        """Return the key of the set-up's result for a tree.

        Args:
            tree: the tree.
            surroundings: what else the result depends on.

        Raises:
            WorkspaceError: the tree is larger than the limits allow.
        """
        what = (_FORMAT, self.lines, self.network, sorted(self.secrets), self.directory, surroundings)
        digest = hashlib.sha256(json.dumps(what).encode())
        for name, content in lock_files_of(tree, self.lock_files).items():
            digest.update(json.dumps([name, hashlib.sha256(content).hexdigest()]).encode())
        return f"setup-{digest.hexdigest()[:40]}"


@dataclass(frozen=True, slots=True)
class Setups:
    """Lends the results of set-ups, each created at first use.

    Attributes:
        shelf: stores the results.
        sandbox: confines the set-ups.
        path: the value of `PATH` for them.
        readable: what they may read besides the system's directories.
        env: the operator's variables: registries and certificates.
    """

    shelf: Shelf
    sandbox: Sandbox
    path: str = "/usr/local/bin:/usr/bin:/bin"
    readable: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @asynccontextmanager
    async def lent(self, recipe: Recipe, base: Path, locks: Path | None = None) -> AsyncGenerator[Kept]:
        """Yield the result of a base's set-up. It stays in place while the block runs.

        Args:
            recipe: the set-up.
            base: the tree on which it runs.
            locks: a tree with lock files and manifests that replace the base's; scripts stay the base's.

        Raises:
            SetupError: the set-up failed.
            WorkspaceError: a tree is larger than the limits allow.
        """
        key = await anyio.to_thread.run_sync(self._key, recipe, locks or base)
        key = key if locks is None else f"{key}-candidate"
        async with self.shelf.built(key, partial(self._run, recipe, base, locks)) as result:
            yield Kept.at(result.place)

    def _key(self, recipe: Recipe, tree: Path) -> str:
        """Return the key of a result. It differs after an upgrade of a tool, because add-ons are native."""
        tools = [_state_of(name, self.path) for name in _TOOLS]
        return recipe.key(tree, [sorted(self.env.items()), self.path, list(map(str, self.readable)), tools])

    async def _run(self, recipe: Recipe, base: Path, locks: Path | None, site: Path) -> None:
        tree = site / "work" / "tree"
        try:
            await anyio.to_thread.run_sync(copy_tree, base, tree)
            if locks is not None:
                await anyio.to_thread.run_sync(with_locks_of, locks, tree, recipe.lock_files)
            for name in ("home", "scratch"):
                (site / "work" / name).mkdir()
            with anyio.fail_after(recipe.seconds):
                for line in recipe.lines:
                    await self._line(line, recipe, site / "work")
            await anyio.to_thread.run_sync(keep_new, base, site)
        except TimeoutError as error:
            told = f"The set-up took longer than {recipe.seconds:g} seconds"
            raise SetupError(told, retryable=True) from error
        except SandboxUnavailableError as error:
            raise SetupError(f"The set-up cannot be confined: {error}") from error
        except OSError as error:
            raise SetupError(f"The set-up cannot be run: {error}", retryable=True) from error

    async def _line(self, line: str, recipe: Recipe, work: Path) -> None:
        cwd = work / "tree" / recipe.directory
        if not cwd.is_dir():
            raise SetupError(f"The set-up cannot start in {recipe.directory}: no such directory")
        outcome = await self.sandbox.run(
            ["/bin/sh", "-c", line],
            cwd=cwd,
            env=self._variables(recipe, work),
            timeout=recipe.seconds,
            confinement=Confinement(
                writable=(work / "tree", work / "scratch"),
                readable=(*self.readable, *local_places(self.env)),
                network=Network.public_if(recipe.network),
                home=work / "home",
            ),
            output_limit=_OUTPUT_BYTES,
        )
        if outcome.timed_out:
            raise TimeoutError
        if outcome.returncode != 0:
            raise SetupError(_trouble(line, outcome, recipe), retryable=recipe.network)

    def _variables(self, recipe: Recipe, work: Path) -> dict[str, str]:
        scratch = work / "scratch"
        return {
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "CI": "true",
            "GOFLAGS": "-modcacherw",
            # Downloaded archives are useless to later runs, so they are not copied with the rest.
            "npm_config_cache": str(scratch / "npm"),
            "YARN_CACHE_FOLDER": str(scratch / "yarn"),
            **self.env,
            "PATH": self.path,
            "HOME": str(work / "home"),
            "TMPDIR": str(scratch),
            **recipe.secrets,
        }


def _state_of(tool: str, path: str) -> list[object]:
    """Return which file a tool is and when it changed; an empty list if it is not installed."""
    found = shutil.which(tool, path=path)
    with suppress(OSError):
        if found is not None:
            return [os.path.realpath(found), os.stat(found).st_mtime_ns]
    return []


def _trouble(line: str, outcome: ProcessOutcome, recipe: Recipe) -> str:
    said = mask(outcome.stderr.strip() or outcome.stdout.strip(), recipe.secrets.values())
    told = f"The set-up failed: {line!r} ended with exit status {outcome.returncode}: "
    if "EUSAGE" in outcome.stderr and "lock file" in outcome.stderr:
        # npm names the packages at the beginning, before a long text about its usage.
        beginning = said[:_DETAIL_CHARS].partition("Clean install a project")[0].rstrip()
        return f"{told}{beginning}\nThe lock file does not fit: run `npm install`, and commit it."
    told += said if len(said) <= _DETAIL_CHARS else f"…{said[-_DETAIL_CHARS:]}"
    return told if recipe.network else f"{told}\nThe set-up has no network: see [environment] network."


def setup_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a process's environment that set-ups get: registries and certificates only."""
    return {
        name: value
        for name, value in environ.items()
        if value and name.upper() in _PASSED_ON and "@" not in value
    }
