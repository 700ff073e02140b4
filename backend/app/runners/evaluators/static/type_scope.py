"""Finds how a project's own commands call mypy: for which files, and whether apart from its packages."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

_FILES = (
    *("tox.ini", "pyproject.toml", "noxfile.py", "Makefile", "makefile", "justfile", "tasks.py"),
    *(".gitlab-ci.yml", ".github/workflows/*.yml", ".github/workflows/*.yaml"),
)
_HOOK_FILES = (".pre-commit-config.yaml", ".pre-commit-config.yml")
_HOOK = re.compile(r"/mirrors-mypy\b")
_MOST_FILES = 40
_MOST_BYTES = 200_000
_CALL = re.compile(r"(?<![\w./-])mypy(?![\w./-])([^\n|&;<>]*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_POSARGS = re.compile(r"\{posargs:?|\}")
_MARKS = re.compile(r"[\"',\[\]()]")
_PYTHON = (".py", ".pyi")
_MODULE_OPTIONS = frozenset({"-p", "--package", "-m", "--module"})


def places_checked(base: Path) -> tuple[str, ...]:
    """Return the directories and files in the base's own calls of mypy. Empty means all or unknown.

    A call counts if everything that it names exists, as in `mypy src/` of a tox environment. A call built
    from variables does not count. One that names the root means all files.

    Args:
        base: the base tree.
    """
    found: dict[str, None] = {}
    for line in _lines(base):
        for call in _CALL.finditer(line):
            for place in _named(base, call.group(1)):
                found[place] = None
    return () if "." in found else tuple(found)


def has_mypy_hook(base: Path) -> bool:
    """Return True if the base runs mypy as a pre-commit hook, in a separate environment."""
    return any(_HOOK.search(line) for line in _lines(base, _HOOK_FILES))


def _lines(base: Path, patterns: Sequence[str] = _FILES) -> Iterator[str]:
    files = [path for pattern in patterns for path in sorted(base.glob(pattern))]
    for path in files[:_MOST_FILES]:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            continue
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            yield _COMMENT.sub("", line)


def _named(base: Path, rest: str) -> list[str]:
    """Return the paths in the arguments of one call; none if any of them is unknown."""
    found: list[str] = []
    is_value, option = False, ""
    for word in _MARKS.sub(" ", _POSARGS.sub(" ", rest)).split():
        if word.startswith("-"):
            is_value, option = "=" not in word, word
            continue
        place = _module(base, word) if is_value and option in _MODULE_OPTIONS else _place(base, word)
        if place is not None:
            found.append(place)
        elif not is_value:
            return []
        is_value = False
    return found


def _module(base: Path, word: str) -> str | None:
    path = word.replace(".", "/")
    tried = (f"{root}{path}{end}" for root in ("", "src/") for end in ("", ".py"))
    return next((found for each in tried if (found := _place(base, each)) is not None), None)


def _place(base: Path, word: str) -> str | None:
    path = PurePosixPath(word)
    if path.is_absolute() or ".." in path.parts or "\0" in word:
        return None
    try:
        is_code = (base / path).is_dir() or (path.suffix in _PYTHON and (base / path).is_file())
    except OSError:
        return None
    return str(path) if is_code else None
