"""Finds the optional features of a project whose packages its developers install."""

from collections.abc import Collection
from pathlib import Path

from app.workspaces.environments.commanded import LARGE, NOT_FOR_TESTS
from app.workspaces.environments.groups import Wanted
from app.workspaces.environments.naming import DEVELOPMENT, names_in, normal
from app.workspaces.environments.requirement_files import requirement_file_names, requirement_lines

_OF_ALL = frozenset({"all", "full", "complete", "everything"})
"""Extras that repeat the packages of others."""


def developed_requirements(tree: Path, asked: Wanted, known: Collection[str]) -> list[str]:
    """Return the requirements of features that files or groups for development name as well.

    The files for tests often lack them, because developers install both. The rest of what development needs,
    such as linters and tools for a release, is not for tests.

    Args:
        tree: the base.
        asked: what the project declares.
        known: normalised names of the packages that are installed anyway.
    """
    features = [line for name, lines in asked.extras.items() if _is_feature(name) for line in lines]
    if not features:
        return []
    _, _, files = requirement_file_names(tree)
    groups = [lines for name, lines in asked.groups.items() if normal(name) in DEVELOPMENT]
    named = names_in([*requirement_lines(tree, files), *(line for lines in groups for line in lines)])
    wanted = named.difference(known, LARGE)
    return [each for each in dict.fromkeys(features) if not names_in([each]).isdisjoint(wanted)]


def _is_feature(extra: str) -> bool:
    name = normal(extra)
    return not NOT_FOR_TESTS.intersection(name.split("-")) and name not in _OF_ALL
