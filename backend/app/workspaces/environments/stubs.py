"""Finds the packages of types with which a project checks its types. They hold no code that runs."""

import re
from collections.abc import Iterator
from pathlib import Path

from app.workspaces.environments.groups import Wanted
from app.workspaces.environments.naming import names_in
from app.workspaces.environments.reading import read_text

_HOOK_FILES = (".pre-commit-config.yaml", ".pre-commit-config.yml")
# A hook runs in a separate environment, with the packages that this file lists.
_OF_A_HOOK = re.compile(
    r"(?<![\w./-])((?:types-[A-Za-z0-9][\w.-]*|[A-Za-z0-9][\w.-]*-stubs)(?:\[[\w,.\s-]*\])?"
    r"(?:\s*[<>=!~]=?\s*[\w.*]+(?:\s*,\s*[<>=!~]=?\s*[\w.*]+)*)?)"
)
_COMMENT = re.compile(r"(?:^|\s)#.*")


def stub_requirements(tree: Path, asked: Wanted) -> list[str]:
    """Return the packages of types in all groups and extras of a project, and in its pre-commit hooks.

    Args:
        tree: the base.
        asked: what the project declares.

    Raises:
        DeclarationError: a file cannot be read as text.
    """
    groups = [*asked.groups.values(), *asked.extras.values()]
    declared = [line for lines in groups for line in lines if _is_stub(line)]
    known = names_in(declared)
    return list(
        dict.fromkeys([*declared, *(each for each in _of_hooks(tree) if not names_in([each]) & known)])
    )


def _is_stub(requirement: str) -> bool:
    return any(each.startswith("types-") or each.endswith("-stubs") for each in names_in([requirement]))


def _of_hooks(tree: Path) -> Iterator[str]:
    for name in _HOOK_FILES:
        for line in (read_text(tree, name) or "").splitlines():
            yield from _OF_A_HOOK.findall(_COMMENT.sub("", line))
