"""Reads the settings of uv in pyproject.toml, and its lock."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from app.workspaces.environments.naming import normal
from app.workspaces.environments.reading import table, texts


def default_groups(content: Mapping[str, Any], groups: Sequence[str]) -> list[str]:
    """Return the groups that uv installs for people who work on the project, if it names any."""
    named = table(content, "tool", "uv").get("default-groups")
    if named == "all":
        return list(groups)
    same = set(map(normal, texts(named)))
    return [each for each in groups if normal(each) in same]


def excluding_extras(content: Mapping[str, Any]) -> frozenset[str]:
    """Return the normalised names of the extras that cannot be installed together with others."""
    sets = table(content, "tool", "uv").get("conflicts")
    entries = [entry for each in _listed(sets) for entry in _listed(each)]
    extras = [table({"it": each}, "it").get("extra") for each in entries]
    return frozenset(normal(each) for each in extras if isinstance(each, str))


def _listed(value: object) -> "Sequence[object]":
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def locked_groups(lock: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the normalised names of the project's groups in a lock; None if the project is not in it."""
    packages = cast("list[object]", lock["package"]) if isinstance(lock.get("package"), list) else []
    for package in packages:
        entry: Mapping[str, Any] = cast("dict[str, Any]", package) if isinstance(package, dict) else {}
        source = table(entry, "source")
        if "." in (source.get("editable"), source.get("virtual"), source.get("directory")):
            return frozenset(map(normal, table(entry, "dev-dependencies")))
    return None
