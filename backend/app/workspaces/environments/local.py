"""Requirements that name the project itself or a directory beside it, in the forms that pip reads."""

import re
from collections.abc import Iterable, Iterator

from app.workspaces.environments.groups import Wanted, own_extras

_MAX_DEPTH = 10
_EDITABLE = r"(?:(?:-e|--editable)(?:\s+|=))?['\"]?"
_NAMED = r"(?:[\w.-]++\s*+(?:\[(?P<of_name>[^\]]*)\]\s*+)?@\s*+)?"
# Possessive quantifiers make sure that a long line without a match is read only once.
_PATH = re.compile(
    rf"^{_EDITABLE}{_NAMED}(?:file:(?://(?:localhost)?)?)?(?P<path>\.{{1,2}}(?:/[^\[#;'\"]*+)?)"
    r"(?:\[(?P<of_path>[^\]]*)\])?(?:#(?:egg=[\w.-]++(?:\[(?P<of_egg>[^\]]*)\])?)?[^\s;]*+)?['\"]?(?:\s*+;.*)?$"
)
_LOCAL = re.compile(rf"^(?:(?:-e|--editable)(?:\s+|=)(?!['\"]?(?:\w+\+|https?:))|{_EDITABLE}{_NAMED}file:)")
_EDITABLE_PLACE = re.compile(
    r"^(?:-e|--editable)(?:\s+|=)['\"]?(?P<path>\w[\w./-]*+)(?:\[[^\]]*\])?['\"]?(?:\s*+;.*)?$"
)
"""A directory that is named without `./`, which is possible after `-e` only."""
_ITSELF = (".", "./", "..", "../")
"""The parent too: people name it in files of a directory such as `requirements/`."""


def local_extras(line: str) -> list[str] | None:
    """Return the extras that a line asks of the project itself; None where it names no local directory.

    A directory beside the project has none: it is not installed either.
    """
    path = _PATH.match(line)
    if path is None:
        return [] if _LOCAL.match(line) else None
    if path["path"].strip() not in _ITSELF:
        return []
    groups = (path[name] or "" for name in ("of_name", "of_path", "of_egg"))
    return [extra for group in groups for each in group.split(",") if (extra := each.strip())]


def local_place(line: str) -> str | None:
    """Return the directory beside the project that a line names, as written; None if it names none."""
    found = _PATH.match(line) or _EDITABLE_PLACE.match(line)
    place = found["path"].strip() if found is not None else "."
    return None if place in _ITSELF else place


def without_self(lines: Iterable[str], asked: Wanted, project: str, depth: int = 0) -> Iterator[str]:
    """Replace `project[extra]` with the requirements of that extra, and leave out local directories.

    Args:
        lines: requirements of the project, its extras and its groups.
        asked: what its extras ask for.
        project: its name; empty when it has none.
        depth: of extras that name others.
    """
    for line in lines:
        extras = own_extras(line, project)
        if extras is None and local_extras(line) is None:
            yield " ".join(line.split())
        elif depth < _MAX_DEPTH:
            for extra in extras or local_extras(line) or ():
                yield from without_self(asked.extra_requirements(extra), asked, project, depth + 1)
