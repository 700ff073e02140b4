"""Reads requirements, and named groups of them, from the project files of several tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from app.workspaces.environments.naming import normal
from app.workspaces.environments.poetry import poetry_extras, poetry_requirements
from app.workspaces.environments.reading import read_ini, read_toml, table, texts
from app.workspaces.environments.setup_py import setup_arguments
from app.workspaces.environments.setup_py_files import requirement_files_of_setup

_MAX_DEPTH = 20


@dataclass(slots=True)
class Wanted:
    """The requirements that one tree declares.

    Attributes:
        requirements: those of the project itself.
        extras: its optional requirements, by name.
        groups: its development requirements, by name.
        files: requirement files that its configuration names.
        extra_files: requirement files of extras, by name.
        read_from: the files that declare all this.
    """

    requirements: list[str] = field(default_factory=list[str])
    extras: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: list[str] = field(default_factory=list[str])
    extra_files: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    read_from: list[str] = field(default_factory=list[str])

    def extra_requirements(self, name: str) -> list[str]:
        """Return the requirements of an extra, for any spelling of its name."""
        same = normal(name)
        return [each for key, lines in self.extras.items() if normal(key) == same for each in lines]

    def for_documentation(self) -> list[str]:
        """Return the requirements of extras and groups such as `docs-rtd`, which others may include."""
        named = (*self.extras.items(), *self.groups.items())
        return [each for name, lines in named if normal(name).startswith("doc") for each in lines]


def wanted(tree: Path) -> Wanted:
    """Read the requirements from a tree's pyproject.toml, setup.cfg, setup.py, and what only a Pipfile has.

    Raises:
        DeclarationError: one of them cannot be read.
    """
    found = Wanted()
    readers = (
        ("pyproject.toml", _from_pyproject),
        ("setup.cfg", _from_setup_cfg),
        ("setup.py", _from_setup_py),
        ("Pipfile", _from_pipfile),
    )
    for name, read in readers:
        before = _amount(found)
        read(tree, found)
        if _amount(found) > before:
            found.read_from.append(name)
    return found


def _amount(found: Wanted) -> int:
    lists = (found.requirements, found.files, *found.extras.values(), *found.groups.values())
    return sum(map(len, (*lists, *found.extra_files.values())))


def _from_pyproject(tree: Path, found: Wanted) -> None:
    document = read_toml(tree, "pyproject.toml")
    project, tool = table(document, "project"), table(document, "tool")
    found.requirements += texts(project.get("dependencies"))
    _add(found.extras, table(project, "optional-dependencies"))
    dynamic = table(tool, "setuptools", "dynamic")
    found.files += texts(table(dynamic, "dependencies").get("file"))
    for name, value in table(dynamic, "optional-dependencies").items():
        found.extra_files[name] = texts(table({"it": value}, "it").get("file"))
    groups = table(document, "dependency-groups")
    for name in groups:
        found.groups.setdefault(name, []).extend(_group(groups, name))
    found.groups.setdefault("dev", []).extend(texts(table(tool, "uv").get("dev-dependencies")))
    _add(found.groups, table(tool, "pdm", "dev-dependencies"))
    for name, environment in table(tool, "hatch", "envs").items():
        own = table({"it": environment}, "it")
        kind = {"default": "dev", "hatch-test": "test"}.get(name, name)
        lines = [*texts(own.get("dependencies")), *texts(own.get("extra-dependencies"))]
        found.groups.setdefault(kind, []).extend(each for each in lines if "{" not in each)
    # Flit's table from before pyproject.toml had one for all.
    flit = table(tool, "flit", "metadata")
    found.requirements += texts(flit.get("requires"))
    _add(found.extras, table(flit, "requires-extra"))
    poetry = table(tool, "poetry")
    found.requirements += poetry_requirements(table(poetry, "dependencies"))
    _add(found.extras, poetry_extras(poetry))
    found.groups.setdefault("dev", []).extend(poetry_requirements(table(poetry, "dev-dependencies")))
    for name, group in table(poetry, "group").items():
        lines = poetry_requirements(table({"it": group}, "it", "dependencies"))
        found.groups.setdefault(name, []).extend(lines)


def _from_setup_cfg(tree: Path, found: Wanted) -> None:
    sections = read_ini(tree, "setup.cfg")
    options = sections.get("options", {})
    _add_lines(found.requirements, found.files, options.get("install_requires", ""))
    found.extras.setdefault("tests", []).extend(_one_each(options.get("tests_require", "")))
    # pbr, a build backend, has its own name for the section.
    extras = {**sections.get("extras", {}), **sections.get("options.extras_require", {})}
    for name, value in extras.items():
        _add_lines(found.extras.setdefault(name, []), found.extra_files.setdefault(name, []), value)


def _from_setup_py(tree: Path, found: Wanted) -> None:
    given = setup_arguments(tree)
    required = texts(given.get("install_requires"))
    found.requirements += required
    found.files += [] if required else requirement_files_of_setup(tree)
    found.extras.setdefault("tests", []).extend(texts(given.get("tests_require")))
    _add(found.extras, table(given, "extras_require"))


def _from_pipfile(tree: Path, found: Wanted) -> None:
    """Add the packages of a Pipfile where the project files name none. Its entries are like Poetry's."""
    has_own, has_groups = bool(found.requirements or found.files), any(found.groups.values())
    document: Mapping[str, Any] = {} if has_own and has_groups else read_toml(tree, "Pipfile")
    if not has_own:
        found.requirements += poetry_requirements(table(document, "packages"))
    if not has_groups:
        found.groups.setdefault("dev", []).extend(poetry_requirements(table(document, "dev-packages")))


def _add(groups: dict[str, list[str]], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        groups.setdefault(name, []).extend(texts(value))


def _add_lines(requirements: list[str], files: list[str], value: str) -> None:
    """Add the lines of a setup.cfg setting, which may instead name files (`file: a.txt, b.txt`)."""
    if value.strip().startswith("file:"):
        files += [each.strip() for each in value.strip()[5:].split(",") if each.strip()]
    else:
        requirements += _one_each(value)


def _one_each(value: str) -> list[str]:
    """Return the requirements of a setup.cfg setting: its lines, or what semicolons separate in its only one.

    setuptools reads such a list in this way (`list-semi`), so a single line has no room for a marker.
    """
    return texts(value) if "\n" in value else texts(value.replace(";", "\n"))


def _group(groups: Mapping[str, Any], name: str, depth: int = 0) -> Iterator[str]:
    """Yield the requirements of a dependency group and of the groups that it includes."""
    named = {normal(key): value for key, value in groups.items()}
    value = named.get(normal(name))
    if not isinstance(value, list) or depth > _MAX_DEPTH:
        return
    for each in cast("Sequence[object]", value):
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            included = cast("Mapping[str, object]", each).get("include-group")
            if isinstance(included, str):
                yield from _group(groups, included, depth + 1)


def own_extras(requirement: str, project: str) -> list[str] | None:
    """Return the extras in `project[a,b]`. Return None if the requirement is not the project itself."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?", requirement)
    if match is None or not project or normal(match.group(1)) != normal(project):
        return None
    return [each.strip() for each in (match.group(2) or "").split(",") if each.strip()]
