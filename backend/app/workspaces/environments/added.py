"""Finds what a candidate's project files and locks require otherwise than the base's."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement

from app.workspaces.environments.groups import wanted
from app.workspaces.environments.locked import VERSION_LOCKS, is_release, uv_locked_versions
from app.workspaces.environments.naming import names_in, normal
from app.workspaces.environments.nox import nox_requirements
from app.workspaces.environments.project import project_of
from app.workspaces.environments.reading import DeclarationError, read_text
from app.workspaces.environments.requirement_files import RequirementFiles, requirement_file_names
from app.workspaces.environments.tox import tox_requirements

MOST_CHANGES = 200
"""Limit on the changed releases of one candidate."""

_NEVER_CHANGED = frozenset({"pytest", "pluggy", "iniconfig"})
"""The judge's own tools."""

_LOCKS: Mapping[str, Callable[[Path], list[str]]] = {
    **VERSION_LOCKS,
    "uv.lock": uv_locked_versions,
}


def added_requirements(base: Path | None, candidate: Path) -> tuple[str, ...]:
    """Return the requirements that only the candidate's project files have, by name.

    Requirements that name an address instead of a release are included; the caller must refuse them.
    """
    try:
        before = _all_requirements(base) if base else []
        after = _all_requirements(candidate)
    except DeclarationError:
        return ()
    known = names_in(before)
    return tuple(
        dict.fromkeys(
            each for each in after if names_in([each]) and not names_in([each]) & known and _is_for_here(each)
        )
    )


def changed_requirements(base: Path | None, candidate: Path) -> tuple[str, ...]:
    """Return the requirements that both declare, with the releases that the candidate's files or lock allow.

    Only releases from an index count. Addresses in the candidate's files and lock are never used, because
    the candidate could choose where they lead.
    """
    if base is None:
        return ()
    try:
        # Locks are large, and most candidates leave them as they are.
        locks = [read for name, read in _LOCKS.items() if read_text(base, name) != read_text(candidate, name)]
        before, after = _releases(base, locks), _releases(candidate, locks)
    except DeclarationError:
        return ()
    changed = (
        line for name, lines in after.items() if lines != before.get(name, lines) for line in sorted(lines)
    )
    return tuple(islice(dict.fromkeys(changed), MOST_CHANGES))


def _releases(tree: Path, locks: Iterable[Callable[[Path], list[str]]]) -> dict[str, frozenset[str]]:
    """Return the releases that a tree allows, by name of the package. What a lock pins counts alone."""
    found: dict[str, set[str]] = {}
    for line in filter(_is_for_here, _all_requirements(tree)):
        if is_release(line):
            found.setdefault(normal(Requirement(line).name), set()).add(line)
    found |= {normal(Requirement(each).name): {each} for read in locks for each in read(tree)}
    return {name: frozenset(lines) for name, lines in found.items() if name not in _NEVER_CHANGED}


def _is_for_here(requirement: str) -> bool:
    """Return True if a requirement has no marker, or if its marker holds for the running interpreter."""
    try:
        marker = Requirement(requirement).marker
        return marker is None or marker.evaluate({"extra": ""})
    except (InvalidRequirement, UndefinedEnvironmentName):
        return True


def _of_sessions(tree: Path) -> list[str]:
    """Return what sessions of tox and nox install for tests. Their files only add to the project files."""
    try:
        return [*tox_requirements(tree), *nox_requirements(tree)]
    except DeclarationError:
        return []


def _all_requirements(tree: Path) -> list[str]:
    asked = wanted(tree)
    files = RequirementFiles()
    plain, tests, development = requirement_file_names(tree)
    for name in (*plain, *tests, *development, *asked.files):
        files.collect(tree, name)
    groups = (*asked.extras.values(), *asked.groups.values(), _of_sessions(tree))
    project = project_of(tree)
    lines = [*asked.requirements, *(line for group in groups for line in group)]
    lines += [line for text in files.texts.values() for line in text.splitlines() if not line.startswith("-")]
    return [
        " ".join(line.split())
        for line in lines
        if project is None or normal(project.name) not in names_in([line])
    ]
