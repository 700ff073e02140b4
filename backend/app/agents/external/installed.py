"""Finds the program of a profile on this machine, the files that it needs, and its version."""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from app.agents.external.profile import AgentProfile

PythonPlaces = Callable[[Path], tuple[Path, ...]]
"""Returns the directories that a Python interpreter needs, with links resolved."""

_HEAD_BYTES = 512
_SYSTEM = (Path("/usr"), Path("/bin"), Path("/lib"))
_MODULES = "node_modules"
_ENVIRONMENT = "pyvenv.cfg"
_SHELL = "/bin/sh"


class NotInstalledError(Exception):
    """A program is missing or cannot be executed. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An agent's program.

    Attributes:
        program: the file, with links resolved, except the link to an environment's Python.
        package: the directory in which it is installed.
        path: directories for the variable PATH.
        readable: what it must see besides the system's directories.
        version: None if its package does not state it.
    """

    program: Path
    package: Path
    path: tuple[Path, ...]
    readable: tuple[Path, ...]
    version: str | None


def find_installed(profile: AgentProfile, search: Sequence[Path], python_places: PythonPlaces) -> Installed:
    """Find the program of a profile.

    Args:
        profile: names the program and its needs.
        search: directories to search, in order of preference.
        python_places: used for programs in Python.

    Raises:
        NotInstalledError: something is missing.
    """
    named = _find(profile.argv[0], search, _how_to_install(profile))
    here = named.parent.resolve() / named.name
    program = here if _is_of_environment(here) else here.resolve()
    readable = [_package_of(program)]
    path: list[Path] = []
    interpreter = _interpreter(program)
    if interpreter is not None and interpreter.name.startswith("python"):
        readable += python_places(interpreter)
    for need in dict.fromkeys([*profile.needs, *_from_environment(program)]):
        found = _find(need, search, f"{profile.argv[0]} needs it").resolve()
        path.append(found.parent)
        readable.append(_package_of(found))
    return Installed(
        program=program,
        package=readable[0] if readable[0].is_dir() else program.parent,
        path=tuple(dict.fromkeys([program.parent, *path])),
        readable=tuple(dict.fromkeys(each for each in readable if not _is_system(each))),
        version=_version(profile, program, interpreter),
    )


def _find(name: str, search: Sequence[Path], hint: str) -> Path:
    places = [Path(name)] if os.sep in name else [place / name for place in search]
    found = next((each for each in places if each.is_file()), None)
    if found is None:
        where = "" if os.sep in name else " in AGENTS_PATH or PATH"
        raise NotInstalledError(f"there is no program {name}{where}{f': {hint}' if hint else ''}")
    usable = next((each for each in places if each.is_file() and os.access(each, os.X_OK)), None)
    if usable is None:
        raise NotInstalledError(f"{found} is not executable: chmod +x {found}")
    return usable


def _how_to_install(profile: AgentProfile) -> str:
    kind, _, name = (profile.package or "").partition(":")
    wanted = f"{name}{'@' if kind == 'npm' else '=='}{profile.tried}" if profile.tried else name
    commands = {"npm": f"npm install -g {wanted}", "pypi": f"uv tool install {wanted}"}
    return commands.get(kind, "")


def _package_of(program: Path) -> Path:
    """Return the part of an installation that must be visible: its modules, its environment, or one file."""
    if _MODULES in program.parts:
        return Path(*program.parts[: program.parts.index(_MODULES) + 1])
    environment = program.parent.parent
    return environment if (environment / _ENVIRONMENT).is_file() else program


def _is_of_environment(program: Path) -> bool:
    """Return True for a virtual environment's Python, which finds its packages by its own path."""
    return program.name.startswith("python") and (program.parent.parent / _ENVIRONMENT).is_file()


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in _SYSTEM)


def _first_line(program: Path) -> str:
    with program.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return head.split(b"\n", 1)[0].decode("utf-8", "replace") if head.startswith(b"#!") else ""


def _interpreter(program: Path) -> Path | None:
    if _is_of_environment(program):
        return program
    words = _first_line(program).removeprefix("#!").split()
    if words == [_SHELL] and (program.parent.parent / _ENVIRONMENT).is_file():
        # Installers let a shell start Python if its path is too long for the first line or has white space.
        return program.parent / "python"
    return Path(words[0]) if words and words[0] != "/usr/bin/env" else None


def _from_environment(program: Path) -> Iterator[str]:
    """Yield the interpreter that a script's `env` line names."""
    words = _first_line(program).removeprefix("#!").split()
    if words and words[0] == "/usr/bin/env":
        yield from [each for each in words[1:] if not each.startswith("-")][:1]


def _version(profile: AgentProfile, program: Path, interpreter: Path | None) -> str | None:
    kind, _, name = (profile.package or "").partition(":")
    if kind == "npm":
        return _npm_version(program, name)
    if kind == "pypi" and interpreter is not None:
        return _pypi_version(interpreter.parent.parent, name)
    return None


def _npm_version(program: Path, name: str) -> str | None:
    for directory in program.parents:
        try:
            described = json.loads((directory / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(described, dict) and described.get("name") == name:  # pyright: ignore[reportUnknownMemberType]
            version = cast("dict[str, object]", described).get("version")
            return version if isinstance(version, str) else None
    return None


def _pypi_version(environment: Path, name: str) -> str | None:
    wanted = re.sub(r"[-_.]+", "_", name).lower()
    for found in sorted(environment.glob("lib/python3*/site-packages/*.dist-info")):
        distribution, _, version = found.name.removesuffix(".dist-info").rpartition("-")
        if re.sub(r"[-_.]+", "_", distribution).lower() == wanted:
            return version
    return None
