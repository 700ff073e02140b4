"""Finds the projects below the root of a repository by their manifests. Pure."""

import json
import posixpath
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

_SKIPPED = frozenset(
    {
        *("node_modules", "vendor", "third_party", "target", "build", "dist", "venv", "site-packages"),
        *("test", "tests", "testdata", "__tests__", "__fixtures__", "fixtures", "spec", "specs"),
        *("example", "examples", "template", "templates", "docs"),
    }
)
"""Directories whose manifests belong to test data, third-party code or examples."""

_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt")
_PROJECT_TABLES = ("[project]", "[build-system]", "[tool.poetry", "[tool.pytest", "[tool.uv", "[tool.pdm")
_TESTS = ("test", "tests")


def scripts_of(package: str) -> dict[str, str]:
    """Return the scripts of a `package.json`; empty if the file cannot be read."""
    found = _document(package).get("scripts")
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in cast("dict[str, Any]", found).items() if isinstance(text, str)}


def places_of(manifest: str, files: Collection[str]) -> list[str]:
    """Return the directories below the root that hold a manifest, except those of tests and examples."""
    named = (each for each in files if posixpath.basename(each) == manifest and "/" in each)
    found = (posixpath.dirname(each) for each in named)
    return sorted(each for each in found if not any(_is_skipped(part) for part in each.split("/")))


def node_places(files: Collection[str], texts: Mapping[str, str]) -> list[str]:
    """Return the JavaScript packages below the root that no workspace above them tests."""
    found: list[str] = []
    for each in places_of("package.json", files):
        above = [place for place in _above(each) if _is_workspace(place, files, texts)]
        if not any(scripts_of(texts.get(_in(place, "package.json"), "")).get("test") for place in above):
            found.append(each)
    return found


def cargo_places(files: Collection[str], texts: Mapping[str, str]) -> list[str]:
    """Return the crates below the root that `cargo test` in no directory above them covers."""
    covering = {
        posixpath.dirname(name)
        for name, text in texts.items()
        if posixpath.basename(name) == "Cargo.toml" and "[workspace" in text and "[package]" not in text
    }
    return [each for each in places_of("Cargo.toml", files) if covering.isdisjoint(_above(each))]


def outermost(manifests: Iterable[str], files: Collection[str]) -> list[str]:
    """Return the directories below the root with one of these manifests and none in a directory above."""
    manifests = tuple(manifests)
    if any(each in files for each in manifests):
        return []
    return _outermost(each for manifest in manifests for each in places_of(manifest, files))


def python_places(files: Collection[str], texts: Mapping[str, str]) -> list[str]:
    """Return the Python projects below the root; none if the root itself is one."""
    if any(_is_python_root(each, texts) for each in files):
        return []
    return [
        each
        for each in _outermost(place for name in _PYTHON for place in places_of(name, files))
        if any(file.startswith(f"{each}/") and file.endswith(".py") for file in files)
    ]


def _is_python_root(name: str, texts: Mapping[str, str]) -> bool:
    directory, base = posixpath.split(name)
    if directory in _TESTS:
        return base.endswith(".py")
    if directory:
        return False
    if base == "pyproject.toml":
        return any(table in texts.get(name, "") for table in _PROJECT_TABLES)
    return base in _PYTHON or base.endswith(".py")


def _is_workspace(place: str, files: Collection[str], texts: Mapping[str, str]) -> bool:
    if _in(place, "pnpm-workspace.yaml") in files:
        return True
    return "workspaces" in _document(texts.get(_in(place, "package.json"), ""))


def _outermost(places: Iterable[str]) -> list[str]:
    every = set(places)
    return sorted(each for each in every if every.isdisjoint(_above(each)))


def _above(place: str) -> list[str]:
    """Return the directories above a directory, including the root (`""`)."""
    parts = place.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts))]


def _in(place: str, name: str) -> str:
    return posixpath.join(place, name)


def _is_skipped(part: str) -> bool:
    return part.startswith(".") or part in _SKIPPED


def _document(text: str) -> dict[str, object]:
    try:
        document: object = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", document) if isinstance(document, dict) else {}
