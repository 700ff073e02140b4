"""The files in which programs such as `make` and `just` find what to run. Pure."""

import posixpath
from collections.abc import Collection

_TASKFILES = tuple(
    f"{start}askfile{part}.{end}" for part in ("", ".dist") for start in "Tt" for end in ("yml", "yaml")
)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
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
