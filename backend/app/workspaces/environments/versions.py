"""Finds the version of a project that takes it from git, and the files that its build writes it to."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.version import InvalidVersion, Version

from app.workspaces.environments.reading import read_toml, table
from app.workspaces.environments.setup_py import setup_arguments

UNKNOWN_VERSION = "0"
_DESCRIBED = re.compile(r"(?P<tag>.+)-(?P<distance>\d+)-g(?P<commit>[0-9a-f]+)")
_IN_TAG = re.compile(r"(?:^|[^0-9A-Za-z.])v?(\d[\w.!+]*)$|^[A-Za-z_]*?v?(\d[\w.!+]*)$", re.IGNORECASE)


def described_version(described: str) -> str:
    """Return the version for a `git describe --long` text, as setuptools-scm derives it by default.

    On a tag it is the tag's version; after a tag, a development version of the next one. Empty if there is
    none.
    """
    match = _DESCRIBED.fullmatch(described)
    tag = _IN_TAG.search(match["tag"]) if match else None
    if match is None or tag is None:
        return ""
    try:
        version = Version(tag.group(1) or tag.group(2))
    except InvalidVersion:
        return ""
    distance = int(match["distance"])
    if not distance:
        return str(version)
    return f"{_next(version)}.dev{distance}+g{match['commit']}"


def generated_files(tree: Path, version: str, *, templates: bool = True) -> dict[str, str]:
    """Return the missing files to which the build backend would write a version, by path.

    Args:
        tree: the project.
        version: the version; `""` is unknown.
        templates: False leaves out files whose content the project determines.

    Raises:
        DeclarationError: pyproject.toml or setup.py cannot be read.
    """
    tool = table(read_toml(tree, "pyproject.toml"), "tool")
    scm, hook = table(tool, "setuptools_scm"), table(tool, "hatch", "build", "hooks", "vcs")
    in_setup = table(setup_arguments(tree), "use_scm_version")
    wanted = (
        *(
            (each.get(key), each.get(f"{key}_template"))
            for each in (scm, in_setup)
            for key in ("version_file", "write_to")
        ),
        (hook.get("version-file"), hook.get("template")),
        (table(tool, "pdm", "version").get("write_to"), table(tool, "pdm", "version").get("write_template")),
    )
    return {
        place: _filled(template, version or UNKNOWN_VERSION, place)
        for place, template in wanted
        if isinstance(place, str) and _is_inside(place) and not (tree / place).exists()
        if templates or template is None
    }


def takes_version_from_git(document: Mapping[str, Any]) -> bool:
    """Return True if a pyproject.toml takes the version from git."""
    tool = table(document, "tool")
    hatch = table(tool, "hatch", "version").get("source") == "vcs"
    pdm = table(tool, "pdm", "version").get("source") == "scm"
    required = table(document, "build-system").get("requires")
    plugins = ("setuptools-scm", "setuptools_scm", "hatch-vcs", "flit-scm", "flit_scm", "versioneer")
    return hatch or pdm or "setuptools_scm" in tool or any(each in str(required) for each in plugins)


def _next(version: Version) -> str:
    if version.pre:
        kind, number = version.pre
        return f"{version.base_version}{kind}{number + 1}"
    *head, last = version.release
    return ".".join(map(str, [*head, last + 1]))


def _filled(template: object, version: str, place: str) -> str:
    parts = tuple(int(each) if each.isdigit() else each for each in re.split(r"[.+]", version))
    if isinstance(template, str):
        values = {"version": version, "version_tuple": parts}
        return re.sub(
            r"\{(version|version_tuple)(!r)?\}",
            lambda found: (repr if found.group(2) else str)(values[found.group(1)]),
            template,
        )
    if not place.endswith((".py", ".pyi")):
        return f"{version}\n"
    return (
        f"__version__ = version = {version!r}\n"
        f"__version_tuple__ = version_tuple = {parts!r}\n"
        "__commit_id__ = commit_id = None\n"
    )


def _is_inside(place: str) -> bool:
    path = PurePosixPath(place)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
