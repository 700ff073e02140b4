"""Reads tox's configuration, in whichever file a project keeps it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from app.workspaces.environments.reading import ini_sections, read_ini, read_toml, table, texts

_PLAIN = "testenv"
_OF_TOX = ("tox", _PLAIN)

Sections = Mapping[str, Mapping[str, str]]


def tox_sections(tree: Path) -> Sections:
    """Return the sections of the first file with tox's configuration, as `tox.ini` names them.

    The order is tox's own: `tox.ini`, `setup.cfg`, `pyproject.toml`, `tox.toml`.

    Raises:
        DeclarationError: a file cannot be read.
    """
    sections = read_ini(tree, "tox.ini")
    if any(each.partition(":")[0] in _OF_TOX for each in sections):
        return sections
    sections = read_ini(tree, "setup.cfg")
    if "tox:tox" in sections:
        return sections
    settings = table(read_toml(tree, "pyproject.toml"), "tool", "tox")
    older = settings.get("legacy_tox_ini")
    if isinstance(older, str):
        return ini_sections(older, "pyproject.toml")
    return _as_sections(settings or read_toml(tree, "tox.toml"))


def _as_sections(settings: Mapping[str, Any]) -> Sections:
    """Return the environments of tox's TOML format as sections."""
    plain = _as_section(table(settings, "env_run_base"))
    environments = {
        f"{_PLAIN}:{name}": _as_section(cast("Mapping[str, Any]", options))
        for name, options in table(settings, "env").items()
        if isinstance(options, dict)
    }
    return {_PLAIN: plain, **environments}


def _as_section(options: Mapping[str, Any]) -> Mapping[str, str]:
    variables = table(options, "set_env")
    return {
        **{name: "\n".join(texts(options.get(name))) for name in ("deps", "extras")},
        "set_env": "\n".join(f"{name}={value}" for name, value in variables.items()),
    }
