"""Translates Poetry's requirements into the standard form."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from app.workspaces.environments.naming import normal
from app.workspaces.environments.reading import table, texts

_NUMBERS = re.compile(r"^\d+(?:\.\d+)*")


def poetry_requirements(dependencies: Mapping[str, Any]) -> list[str]:
    """Return a Poetry table as requirements, without Python itself, optional ones and local paths."""
    return [
        line
        for name, value in dependencies.items()
        if normal(name) != "python"
        for line in _every(name, value)
    ]


def poetry_extras(poetry: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the extras of Poetry's table: each lists names of dependencies, which are optional elsewhere."""
    named = {normal(name): value for name, value in table(poetry, "dependencies").items()}
    return {
        extra: [
            line
            for name in texts(names)
            if normal(name) in named
            for line in _every(name, named[normal(name)], optional=True)
        ]
        for extra, names in table(poetry, "extras").items()
    }


def _every(name: str, value: object, *, optional: bool = False) -> Iterator[str]:
    """Yield the requirements of one dependency, which may be a list with one for each Python."""
    for each in cast("Sequence[object]", value) if isinstance(value, list) else [value]:
        yield from _requirement(name, each, optional=optional)


def specifiers(text: str) -> str:
    """Return `^1.2`, `~1.2`, `1.2.*`, `1.2`, `=1.2`, `*` and lists of these as standard version specifiers.

    Of alternatives (`||` or `|`), the last one counts, which is by convention the newest.
    """
    parts = text.rpartition("|")[2].replace(" ", ",").split(",")
    # A space may also separate an operator from its version.
    joined = re.sub(r"([<>=!~^]),+(?=[\d*])", r"\1", ",".join(part for part in parts if part))
    return ",".join(each for part in joined.split(",") for each in _specifier(part))


def _specifier(part: str) -> Iterator[str]:
    if part.startswith(("^", "~")) and not part.startswith("~="):
        version = part[1:]
        match = _NUMBERS.match(version)
        numbers = [int(each) for each in (match.group() if match else "0").split(".")]
        yield f">={version}"
        yield f"<{_above(numbers, caret=part[0] == '^')}"
    elif part not in ("", "*"):
        exact = part.lstrip("=")
        yield part if part[0] in "<>!~" else f"=={exact}"


def _above(numbers: Sequence[int], *, caret: bool) -> str:
    """Return the first version that a caret (same first non-zero number) or tilde (same minor) excludes."""
    place = min(1, len(numbers) - 1)
    if caret:
        place = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))


def _requirement(name: str, value: object, *, optional: bool) -> Iterator[str]:
    entry = {"version": value} if isinstance(value, str) else table({"it": value}, "it")
    if not entry or (entry.get("optional") and not optional) or "path" in entry:
        return
    extras = entry.get("extras")
    listed = ",".join(map(str, cast("Sequence[object]", extras))) if isinstance(extras, list) else ""
    markers = [f"({entry['markers']})"] if isinstance(entry.get("markers"), str) else []
    python = entry.get("python")
    if isinstance(python, str):
        markers += [_python_marker(each) for each in specifiers(python).split(",") if each]
    marker = f" ; {' and '.join(markers)}" if markers else ""
    full = f"{name}[{listed}]" if listed else name
    if isinstance(entry.get("url"), str):
        yield f"{full} @ {entry['url']}{marker}"
    elif isinstance(entry.get("git"), str):
        at = next((f"@{entry[key]}" for key in ("rev", "tag", "branch") if key in entry), "")
        yield f"{full} @ git+{entry['git']}{at}{marker}"
    else:
        yield f"{full}{specifiers(str(entry.get('version', '*')))}{marker}"


def _python_marker(specifier: str) -> str:
    match = re.match(r"([<>=!~]+)(.*)", specifier)
    operator, version = match.groups() if match else ("==", specifier)
    return f"python_full_version {operator} '{version}'"
