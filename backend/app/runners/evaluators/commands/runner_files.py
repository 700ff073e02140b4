"""The files in which programs such as `make` and `just` find what to run, and tasks in `pyproject.toml`."""

import posixpath
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.commands.scripts import script_text

_TASKFILES = tuple(
    f"{start}askfile{part}.{end}" for part in ("", ".dist") for start in "Tt" for end in ("yml", "yaml")
)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew")
_MAVEN = ("pom.xml", "mvnw")
_FILES = {
    "make": _MAKEFILES,
    "gmake": _MAKEFILES,
    "just": ("justfile", "Justfile", ".justfile"),
    "task": _TASKFILES,
    "go-task": _TASKFILES,
    "nox": ("noxfile.py",),
    "tox": ("tox.ini", "tox.toml"),
    "rake": ("rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"),
    "inv": ("tasks.py",),
    "invoke": ("tasks.py",),
    "pre-commit": (".pre-commit-config.yaml",),
    "mvn": _MAVEN,
    "mvnw": _MAVEN,
    "gradle": _GRADLE,
    "gradlew": _GRADLE,
    "ant": ("build.xml",),
    "mix": ("mix.exs",),
}
# Programs that run tasks of `pyproject.toml`, each with the table of its tasks.
_TASKS = {
    "poe": ("poe",),
    "hatch": ("hatch", "envs"),
    "pdm": ("pdm", "scripts"),
    "task": ("taskipy",),
    "tox": ("tox",),
    "pixi": ("pixi", "tasks"),
}
_NAMES = frozenset(name for names in _FILES.values() for name in names)


def is_runner_file(name: str) -> bool:
    """Return True if a program finds what to run in a file of this name."""
    return posixpath.basename(name) in _NAMES


def runner_files(words: Collection[str]) -> list[tuple[str, ...]]:
    """Return the names of files that the programs of a command read, for each program.

    Args:
        words: of the command, without directories.
    """
    return [names for program, names in _FILES.items() if program in words]


def changed_tasks(base: Path, tree: Path, words: Collection[str], directory: str) -> set[str]:
    """Return the path of `pyproject.toml` if the tasks that a command runs differ from the base's.

    Args:
        base: the tree at the base commit.
        tree: the candidate's tree.
        words: of the command, without directories.
        directory: where the command starts.
    """
    name = posixpath.normpath(posixpath.join(directory, "pyproject.toml"))
    before, after = _document(base / name), _document(tree / name)
    tables = (table for program, table in _TASKS.items() if program in words)
    return {name for table in tables if _inside(before, table) not in (None, _inside(after, table))}


def _document(path: Path) -> object:
    try:
        return tomllib.loads(script_text(path)).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _inside(document: object, path: tuple[str, ...]) -> object:
    for part in path:
        document = cast("dict[str, Any]", document).get(part) if isinstance(document, dict) else None
    return document
