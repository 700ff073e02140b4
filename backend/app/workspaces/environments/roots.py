"""Chooses what an environment installs by name: the requirements of a project and of its tests."""

from pathlib import Path

from app.workspaces.environments.commanded import commanded_lines
from app.workspaces.environments.groups import Wanted
from app.workspaces.environments.imported import imported_by_tests
from app.workspaces.environments.local import without_self
from app.workspaces.environments.naming import choose, choose_groups, names_in, normal
from app.workspaces.environments.nox import nox_requirements
from app.workspaces.environments.reading import read_text
from app.workspaces.environments.requirement_files import RequirementFiles, plugins_in, requirement_file_names
from app.workspaces.environments.tox import (
    readable_tox_files,
    tox_additions,
    tox_extras,
    tox_files,
    tox_requirements,
)
from app.workspaces.environments.undeclared import undeclared

_TELLS_NOTHING = frozenset({"pytest", "pytest-cov", "coverage", "tox", "nox"})
"""Requirements for tests that do not show what the tests use. Then tox is asked, too."""


def declared_roots(tree: Path, asked: Wanted, project: str) -> tuple[list[str], RequirementFiles]:
    """Return the requirements of a project and of its tests, and the requirement files to install as well.

    Args:
        tree: the project.
        asked: what its project files declare.
        project: its name; may be empty.

    Raises:
        DeclarationError: a file cannot be read.
    """
    files = RequirementFiles()
    plain, for_tests, for_development = requirement_file_names(tree)
    groups = choose_groups(asked.groups, lambda name: asked.groups[name])
    named = choose(asked.extras, asked.extra_requirements)
    extras = list(dict.fromkeys([*named, *tox_extras(tree, asked)]))
    # An extra that only tox names, and that brings no pytest, tells nothing else about what tests need.
    others_of_tox = [each for each in extras if each not in named]
    features = [each for each in others_of_tox if "pytest" not in names_in(asked.extra_requirements(each))]
    lines = [line for name in groups for line in asked.groups[name]]
    lines += [line for name in extras if name not in features for line in asked.extra_requirements(name)]
    others = [line for name, of_extra in asked.extras.items() if name not in extras for line in of_extra]
    others += [line for name, of_group in asked.groups.items() if name not in groups for line in of_group]
    imported = imported_by_tests(tree) if others else frozenset[str]()
    # Files at less usual paths count only if the project states its needs nowhere else.
    for name in [
        *(each for each in plain if each == "requirements.txt" or not asked.requirements),
        *asked.files,
        *(file for extra in extras for file in asked.extra_files.get(extra, ())),
    ]:
        files.collect(tree, name)
    if lines and "pytest" not in names_in(lines):
        # Requirements declared for tests may be incomplete. Then development files that bring pytest count.
        for_development = [each for each in for_development if _brings_pytest(tree, each)]
    elif lines:
        lines += plugins_in(tree, for_development, names_in(lines))
        for_development = []
    for name in for_tests or for_development:
        files.collect(tree, name)
    if lines or for_tests or for_development:
        tells_nothing = not (names_in(lines) - _TELLS_NOTHING or for_tests or for_development)
        lines += tox_additions(tree, names_in(lines), plugins_only=not tells_nothing)
        more = readable_tox_files(tree) if tells_nothing else []
    else:
        lines += list(tox_requirements(tree)) or nox_requirements(tree)
        more = list(tox_files(tree))
    for name in more:
        files.collect(tree, name)
    lines = [*asked.requirements, *lines, *(f"{project}[{each}]" for each in sorted(files.extras) if project)]
    lines += [line for name in features for line in asked.extra_requirements(name)]
    # Tests of an extra's features import its packages, and often nothing else requires them. What tests
    # import may also be in the group for development, or in a file that only a workflow installs.
    lines += [each for each in others if names_in([each]) & imported - {normal(project)}]
    stated = [line for text in files.texts.values() for line in text.splitlines()]
    lines += commanded_lines(tree, names_in([*lines, *stated]) | {normal(project)})
    lines += undeclared(tree, [*lines, *stated])
    return list(dict.fromkeys(without_self(lines, asked, project))), files


def _brings_pytest(tree: Path, name: str) -> bool:
    return "pytest" in names_in((read_text(tree, name) or "").splitlines())
