"""Finds the modules that a tree's tests import, by reading their source."""

import os
import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from app.workspaces.environments.naming import normal
from app.workspaces.files.paths import is_excluded_directory

MAX_FILES = 2000
_MAX_BYTES = 1_000_000
_PLACES = frozenset({"test", "tests", "testing"})
_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py|tests?\.py")
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)

_PREFIXES = ("django", "python")
_DISTRIBUTIONS = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "corsheaders": "django-cors-headers",
    "git": "gitpython",
    "google": "protobuf",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "nacl": "pynacl",
    "openssl": "pyopenssl",
    "pil": "pillow",
    "pkg-resources": "setuptools",
    "rest-framework": "djangorestframework",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Distributions by the modules that they bring, where the names differ. Both are normalised."""


def imported_by_tests(tree: Path) -> frozenset[str]:
    """Return the normalised names that distributions of the modules may have that test files import.

    At most `MAX_FILES` are read.
    """
    files = islice(_test_files(tree), MAX_FILES)
    return distributions_of({each for path in files for each in modules_in(_text(path))})


def modules_in(text: str) -> frozenset[str]:
    """Return the top-level modules that a source imports."""
    return frozenset(_IMPORT.findall(text))


def distributions_of(modules: Collection[str]) -> frozenset[str]:
    """Return the normalised names that distributions of some modules may have."""
    names = set(map(normal, modules))
    others = {f"{prefix}-{each}" for each in names for prefix in _PREFIXES}
    return frozenset(names | others | {_DISTRIBUTIONS[each] for each in names & _DISTRIBUTIONS.keys()})


def _test_files(tree: Path) -> Iterator[Path]:
    for place, directories, names in os.walk(tree):
        directories[:] = sorted(each for each in directories if not is_excluded_directory(os.fsencode(each)))
        directory = Path(place)
        is_theirs = not _PLACES.isdisjoint(directory.relative_to(tree).parts)
        for name in sorted(names):
            if name.endswith(".py") if is_theirs else _FILE.fullmatch(name):
                yield directory / name


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return ""
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
