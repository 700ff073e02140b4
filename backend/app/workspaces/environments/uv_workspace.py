"""Finds the members of uv's workspaces; see https://docs.astral.sh/uv/concepts/projects/workspaces/."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from app.workspaces.environments.reading import table, texts

_MOST_MEMBERS = 200


def members(tree: Path, document: Mapping[str, Any]) -> list[Path]:
    """Return the directories of the members that a tree's `pyproject.toml` names, but not the tree itself.

    Args:
        tree: the root of the workspace.
        document: the parsed `pyproject.toml`.
    """
    workspace = table(document, "tool", "uv", "workspace")
    excluded = set(_found(tree, workspace.get("exclude")))
    found = (each for each in _found(tree, workspace.get("members")) if each not in excluded)
    return [
        each
        for each in islice(dict.fromkeys(found), _MOST_MEMBERS)
        if not each.is_symlink() and (each / "pyproject.toml").is_file()
    ]


def _found(tree: Path, patterns: object) -> Iterator[Path]:
    """Yield the paths below a tree that patterns match.

    Ignore patterns that lead elsewhere, are none, or mean the tree itself.
    """
    for pattern in texts(patterns):
        if ".." not in pattern.split("/") and PurePosixPath(pattern).parts:
            # `glob` raises these for malformed and absolute patterns, and for directories it cannot read.
            with suppress(ValueError, NotImplementedError, OSError):
                yield from sorted(islice(tree.glob(pattern), _MOST_MEMBERS))
