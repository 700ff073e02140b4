"""Sentinels: our own tests with random names. They show that a test program ran to the end of its tests.

Code that prints the lines of passing tests and exits does not know the sentinel's name in this run.
"""

import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

SentinelKind = Literal["go-test", "libtest"]

_GO = 'package {package}\n\nimport "testing"\n\nfunc {name}(t *testing.T) {{ t.Parallel() }}\n'
_RUST_TEST = "\n#[test]\nfn {name}() {{}}\n"
_RUST_MODULE = "\n#[cfg(test)]\nmod {name} {{\n    #[test]\n    fn ended() {{}}\n}}\n"
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_PACKAGE = re.compile(r"^[^\S\n]*+package\s+(\w+)", re.MULTILINE)
_NOT_BUILT = frozenset({"testdata", "vendor", "target", "node_modules"})
_MAX_FILE = 1_000_000


def lay_sentinels(copy: Path, kind: SentinelKind) -> str:
    """Put a sentinel into each test program of a copy, as its last test.

    Returns:
        The text in their names.

    Raises:
        OSError: one cannot be written.
    """
    nonce = secrets.token_hex(8)
    if kind == "go-test":
        name = f"TestZzPhaserunner{nonce}"
        for directory, package in _go_packages(copy):
            file = directory / f"zz_phaserunner_{nonce}_test.go"
            file.write_text(_GO.format(package=package, name=name))
        return name
    name = f"zz_phaserunner_{nonce}"
    for file, is_test in _rust_programs(copy):
        with file.open("a", encoding="utf-8") as opened:
            opened.write((_RUST_TEST if is_test else _RUST_MODULE).format(name=name))
    return name


def _go_packages(copy: Path) -> Iterator[tuple[Path, str]]:
    """Yield the directories with tests, each with the package whose tests run last there."""
    for directory, files in _directories(copy):
        texts = (
            _text(directory / each, copy)
            for each in files
            if each.endswith("_test.go") and each[0] not in "_."
        )
        clauses = (_PACKAGE.search(_COMMENT.sub("", text)) for text in texts)
        found = sorted({each[1] for each in clauses if each}, key=lambda name: name.endswith("_test"))
        if found:
            yield directory, found[-1]


def _rust_programs(copy: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the root files of test programs, and whether each is below `tests`."""
    for directory, files in _directories(copy):
        if "Cargo.toml" not in files:
            continue
        roots = [directory / "src" / name for name in ("lib.rs", "main.rs")]
        roots += sorted((directory / "src" / "bin").glob("*.rs"))
        yield from ((each, False) for each in roots if _is_plain(each, copy))
        yield from (
            (each, True) for each in sorted((directory / "tests").glob("*.rs")) if _is_plain(each, copy)
        )


def _directories(copy: Path) -> Iterator[tuple[Path, list[str]]]:
    for directory, below, files in os.walk(copy):
        below[:] = [each for each in below if each not in _NOT_BUILT and each[0] not in "_."]
        yield Path(directory), files


def _text(path: Path, copy: Path) -> str:
    if not _is_plain(path, copy):
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_MAX_FILE)


def _is_plain(path: Path, copy: Path) -> bool:
    """Return True if a file and its directory are no links, and no other link leads out of the copy to it."""
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        return False
    return path.resolve().is_relative_to(copy.resolve())
