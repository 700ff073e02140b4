"""No module is too long to be read at a sitting, unless it is listed here with the reason."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
MOST_LINES = 300
PLACES = {"backend/app": (".py",), "backend/phaserunner": (".py",), "frontend/src": (".ts", ".tsx", ".css")}

REASONS = {
    "backend/app/corpora/attacks/*.py": "collections of cases; one reads a case, not the file",
    "frontend/src/api/schema.d.ts": "generated from the API",
    "frontend/src/*.test.tsx": "tests, of which one reads a single one",
}
"""Globs of paths that may be longer, each with the reason."""


def modules() -> dict[str, int]:
    """The number of lines of every module, by its path."""
    return {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for place, endings in PLACES.items()
        for path in sorted((ROOT / place).rglob("*"))
        if path.suffix in endings
    }


LINES = modules()
LONG = {path for path, lines in LINES.items() if lines > MOST_LINES}


def test_no_module_is_long_without_a_reason() -> None:
    allowed = {path for path in LONG if any(fnmatchcase(path, glob) for glob in REASONS)}
    assert {path: LINES[path] for path in LONG - allowed} == {}


@pytest.mark.parametrize("glob", REASONS)
def test_every_reason_is_still_needed(glob: str) -> None:
    assert any(fnmatchcase(path, glob) for path in LONG)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_has_modules(place: str) -> None:
    assert any(path.startswith(f"{place}/") for path in LINES)
