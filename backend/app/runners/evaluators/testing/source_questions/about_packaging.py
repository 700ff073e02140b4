"""Asks about what a project newly makes others install or load."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from app.runners.evaluators.testing.source_questions.new_source import NewSource
from app.schemas.questions import Question, QuestionKind
from app.workspaces.environments.groups import wanted
from app.workspaces.environments.imported import distributions_of, modules_in
from app.workspaces.environments.naming import names_in
from app.workspaces.environments.project import entry_points_of
from app.workspaces.environments.reading import DeclarationError

_LOADED_BY = {
    "pytest11": "Every run of pytest",
    "hypothesis": "Every program that uses Hypothesis",
    "distutils.commands": "Every build",
    "setuptools.finalize_distribution_options": "Every build",
    "setuptools.file_finders": "Every build",
}
"""Who loads the entry points of a group, without being asked."""

_PROGRAMS = frozenset(
    {
        *("bash", "cat", "cd", "chmod", "cp", "curl", "docker", "find", "git", "grep", "kill", "less", "ls"),
        *("make", "mv", "node", "npm", "pip", "pip3", "ps", "python", "python3", "rm", "scp", "sh", "ssh"),
        *("sudo", "tar", "uv", "wget", "zsh"),
    }
)
"""Programs that people have. A script of a package can take their place in an environment."""

_UNUSED = "People who install the project install this package, too. No source imports it."
_REPLACES = "It may run in place of the program that people know by this name."
_LOADED = (
    "Its code then runs where people have the project installed, but do not use it. Tests do not show that."
)


def about_packaging(source: NewSource) -> Iterator[Question]:
    """Yield the questions about requirements and entry points. A file that cannot be read gives none."""
    try:
        yield from _about_entry_points(source)
        yield from _about_requirements(source)
    except DeclarationError:
        return


def _about_requirements(source: NewSource) -> Iterator[Question]:
    new = _requirements(source.workspace) - _requirements(source.base)
    if not new:
        return
    known = frozenset(each for text in source.known.values() for each in modules_in(text))
    changed = frozenset(each for text in source.texts.values() for each in modules_in(text))
    # A package can have another name than its module.
    if changed - known - sys.stdlib_module_names:
        return
    sources = "\n".join((*source.known.values(), *source.texts.values()))
    for name in sorted(new - distributions_of(known | changed)):
        # A plug-in may be named in a text.
        if re.search(rf"\b{name.replace('-', '[-_.]')}\b", sources, re.IGNORECASE):
            continue
        text = f"The project newly requires the package `{name}`, which no source imports: may that be?"
        yield Question.about(f"requires {name}", QuestionKind.DOUBTFUL, text, why=_UNUSED, after=name)


def _requirements(tree: Path) -> set[str]:
    """Return the names of what a tree requires in any use. Stubs and builds are not meant."""
    return {each for each in names_in(wanted(tree).requirements) if not each.startswith("types-")}


def _about_entry_points(source: NewSource) -> Iterator[Question]:
    before, after = entry_points_of(source.base), entry_points_of(source.workspace)
    for group, loaded_by in _LOADED_BY.items():
        for name, target in after.get(group, {}).items():
            if before.get(group, {}).get(name) != target:
                text = f"{loaded_by} newly loads `{target}` of this project: does the goal say so?"
                yield Question.about(
                    target, QuestionKind.DOUBTFUL, text, why=_LOADED, after=f"{group} {name}"
                )
    programs = after.get("console_scripts", {}).keys() - before.get("console_scripts", {}).keys()
    for name in sorted(programs & _PROGRAMS):
        text = f"The project newly installs a program of the name `{name}`: does the goal say so?"
        yield Question.about(name, QuestionKind.DOUBTFUL, text, why=_REPLACES, after=name)
