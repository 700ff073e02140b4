"""Finds what only a project's commands, its Pipfile or its conda environments install by name."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.workspaces.environments.conda import conda_words
from app.workspaces.environments.naming import names_in
from app.workspaces.environments.nox import nox_requirements
from app.workspaces.environments.poetry import poetry_requirements
from app.workspaces.environments.reading import DeclarationError, read_toml, table
from app.workspaces.environments.tox import tox_lines

_REQUIREMENT = r"[A-Za-z][\w.-]*(?:\[[\w,.-]+\])?"
_RELEASES = r"(?:[<>=!~]=?|===)[\w.,<>=!~*+-]+"
_INSTALL = re.compile(r"\bpip3? install ([^\n;&|]*)")
_WORD = re.compile(rf"(?<=\s)(['\"]?)({_REQUIREMENT}(?:{_RELEASES})?)\1(?=\s|$)")
_OPTION = re.compile(
    r"\s(?:-[rcefit]|--(?:requirement|constraint|editable|find-links|target|[\w-]+-url))[\s=]\S+"
)
_OF_PIPFILE = ("packages", "dev-packages")
_COMPUTED = re.compile(r"\$\{\{.*?\}\}")
# A job of a workflow that runs once for each of several releases.
_OF_MATRIX = re.compile(rf"^\s*(?:-\s+)?[\w-]+:\s*(['\"]?)({_REQUIREMENT}{_RELEASES})\1\s*$", re.MULTILINE)
_CONDITIONAL = re.compile(rf"[\w{{}},!.-]+:\s*({_REQUIREMENT}(?:\s*{_RELEASES})?)")


def commanded_words(tree: Path, texts: Iterable[str]) -> list[str]:
    """Return requirements that commands install, each package once.

    If they install different releases of one, as with several versions of Django, any release will do.

    Args:
        tree: the base.
        texts: the files with commands for tests.
    """
    found: dict[str, str] = {}
    texts = list(texts)
    for each in (
        *_named(texts),
        *_of_tox(tree),
        *_of_nox(tree),
        *_of_pipfile(tree),
        *conda_words(tree, texts),
    ):
        for name in names_in([each]):
            found[name] = each if found.get(name, each) == each else name
    return list(found.values())


def _named(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for command in _INSTALL.findall(text):
            plain = _OPTION.sub(" ", _COMPUTED.sub(" ", f" {command}"))
            yield from (word for _, word in _WORD.findall(plain))
        yield from (word for _, word in _OF_MATRIX.findall(text))


def _of_tox(tree: Path) -> Iterator[str]:
    """Yield what tox installs for some of its environments only."""
    try:
        lines = tox_lines(tree)
    except DeclarationError:  # it only adds to the project files, so it is ignored
        return
    yield from (found.group(1) for line in lines if (found := _CONDITIONAL.fullmatch(line)))


def _of_nox(tree: Path) -> list[str]:
    try:
        return nox_requirements(tree)
    except DeclarationError:  # as above
        return []


def _of_pipfile(tree: Path) -> list[str]:
    """Return the packages of a Pipfile. If other files declare the project's own, tests may need the rest."""
    try:
        document = read_toml(tree, "Pipfile")
    except DeclarationError:  # as above
        return []
    return [line for name in _OF_PIPFILE for line in poetry_requirements(table(document, name))]
