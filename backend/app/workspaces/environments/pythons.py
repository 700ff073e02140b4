"""Chooses which of this machine's interpreters runs a project's tests."""

import json
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from app.workspaces.environments.outcome import EnvironmentUnavailable, Reason
from app.workspaces.process import run_process

_SECONDS = 60.0
_ASK = (
    "import json, os, platform, sys;"
    "print(json.dumps([os.path.realpath(sys.executable), platform.python_version()]))"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An installed Python.

    Attributes:
        path: the program, outside any virtual environment.
        version: such as `3.12.4`.
    """

    path: Path
    version: str

    @property
    def is_other(self) -> bool:
        """True if its version differs from the one that runs this program."""
        return self.version != platform.python_version()


def own_interpreter() -> Interpreter:
    """Return the interpreter on which this program's virtual environment is based."""
    path = getattr(sys, "_base_executable", None) or sys.executable
    return Interpreter(Path(str(path)), platform.python_version())


def fits(version: str, requires: str, pinned: str = "") -> bool:
    """Return True if a version satisfies the specifiers and begins like the pinned one.

    Raises:
        InvalidSpecifier: `requires` is not a list of version specifiers.
    """
    if pinned and version.split(".")[: pinned.count(".") + 1] != pinned.split("."):
        return False
    return SpecifierSet(requires).contains(version, prereleases=True)


async def choose_python(
    uv: Path, requires: str, pinned: str, env: Mapping[str, str]
) -> Interpreter | EnvironmentUnavailable:
    """Return an interpreter that fits, preferably the one that runs this program.

    If the pinned version is not installed, only the specifiers count, if there are any.

    Args:
        uv: the program that looks for interpreters; it downloads none.
        requires: version specifiers; may be empty.
        pinned: a version such as `3.12`; may be empty.
        env: the environment in which uv looks: PATH and HOME.
    """
    own = own_interpreter()
    try:
        if fits(own.version, requires, pinned):
            return own
        for wanted in filter(None, (pinned, requires)):
            if wanted == requires and fits(own.version, requires):
                return own
            pin = pinned if wanted == pinned else ""
            found = await _find(uv, wanted, env)
            if found is not None and fits(found.version, requires, pin):
                return found
            managed = await _managed(env, requires, pin)
            if managed is not None:
                return managed
    except InvalidSpecifier:
        return EnvironmentUnavailable(Reason.DECLARATION, f"requires-python is not valid: {requires}")
    stated = " and ".join(
        text
        for text in (
            f"requires-python {requires}" if requires else "",
            f".python-version {pinned}" if pinned else "",
        )
        if text
    )
    return EnvironmentUnavailable(
        Reason.NO_PYTHON,
        f"the project states {stated}, and no such Python is installed here (there is {own.version})",
    )


async def _managed(env: Mapping[str, str], requires: str, pinned: str) -> Interpreter | None:
    """Return the newest version that fits among those that version managers installed.

    On `PATH`, these installations appear as shims, which uv does not accept.
    """
    places = await anyio.to_thread.run_sync(_managed_places, env)
    for version, path in sorted(places, reverse=True):
        if fits(".".join(map(str, version)), requires, pinned):
            found = await _asked(path, env)
            if found is not None and fits(found.version, requires, pinned):
                return found
    return None


def _managed_places(env: Mapping[str, str]) -> list[tuple[tuple[int, ...], Path]]:
    """Return the interpreters below the directories of pyenv, asdf and mise, each with its version."""
    home = Path(env.get("HOME", "/nonexistent"))
    roots = (
        Path(env.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(env.get("ASDF_DATA_DIR") or home / ".asdf") / "installs" / "python",
        Path(env.get("MISE_DATA_DIR") or home / ".local" / "share" / "mise") / "installs" / "python",
    )
    found: list[tuple[tuple[int, ...], Path]] = []
    for root in filter(Path.is_dir, roots):
        for path in root.iterdir():
            program = path / "bin" / "python3"
            if re.fullmatch(r"3\.\d+\.\d+", path.name) and not path.is_symlink() and program.is_file():
                found.append((tuple(map(int, path.name.split("."))), program))
    return found


async def _find(uv: Path, request: str, env: Mapping[str, str]) -> Interpreter | None:
    argv = [
        str(uv),
        "python",
        "find",
        "--system",
        "--no-project",
        "--no-config",
        "--offline",
        "--no-python-downloads",
    ]
    try:
        found = await run_process([*argv, request], cwd=Path("/"), env=env, timeout=_SECONDS)
        path = found.stdout.strip()
        if found.returncode != 0 or not path:
            return None
    except (OSError, ValueError):
        return None
    return await _asked(Path(path), env)


async def _asked(path: Path, env: Mapping[str, str]) -> Interpreter | None:
    """Ask a program for its Python version. Return None if it is not a Python."""
    try:
        told = await run_process([str(path), "-I", "-c", _ASK], cwd=Path("/"), env=env, timeout=_SECONDS)
        executable, version = json.loads(told.stdout)
    except (OSError, ValueError):
        return None
    return Interpreter(Path(str(executable)), str(version))
