"""Finds the requirements that a candidate's project files have and the base's do not."""

from pathlib import Path

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement

from app.workspaces.environments.groups import wanted
from app.workspaces.environments.naming import names_in, normal
from app.workspaces.environments.project import project_of
from app.workspaces.environments.reading import DeclarationError
from app.workspaces.environments.requirement_files import RequirementFiles, requirement_file_names


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


def _is_for_here(requirement: str) -> bool:
    """Return True if a requirement has no marker, or if its marker holds for the running interpreter."""
    try:
        marker = Requirement(requirement).marker
        return marker is None or marker.evaluate({"extra": ""})
    except (InvalidRequirement, UndefinedEnvironmentName):
        return True


def _all_requirements(tree: Path) -> list[str]:
    asked = wanted(tree)
    files = RequirementFiles()
    plain, tests, development = requirement_file_names(tree)
    for name in (*plain, *tests, *development, *asked.files):
        files.collect(tree, name)
    groups = (*asked.extras.values(), *asked.groups.values())
    project = project_of(tree)
    lines = [*asked.requirements, *(line for group in groups for line in group)]
    lines += [line for text in files.texts.values() for line in text.splitlines() if not line.startswith("-")]
    return [
        " ".join(line.split())
        for line in lines
        if project is None or normal(project.name) not in names_in([line])
    ]
