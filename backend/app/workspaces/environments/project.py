"""Describes a project well enough for `importlib.metadata` to find it, without any of its code."""

import base64
import hashlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.parser import HeaderParser
from io import BytesIO
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from app.workspaces.environments.about import Fields, fields_of, readme_of
from app.workspaces.environments.poetry import specifiers
from app.workspaces.environments.reading import read_ini, read_text, read_toml, table, texts
from app.workspaces.environments.setup_py import setup_arguments
from app.workspaces.environments.versions import UNKNOWN_VERSION, described_version, takes_version_from_git
from app.workspaces.files.origin import TreeOrigin, origin_of

_WHEEL = "Wheel-Version: 1.0\nGenerator: phaserunner\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_VERSION_LINE = re.compile(
    r"^(?:__version__|version|VERSION)\b[^=\n]*=\s*['\"]([^'\"\n]+)['\"]", re.MULTILINE
)
_VERSION_FILES = ("__init__.py", "_version.py", "__about__.py", "version.py", "__version__.py")
_NAME = re.compile(r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$")
_SCRIPT_GROUPS = {"scripts": "console_scripts", "gui-scripts": "gui_scripts"}


@dataclass(frozen=True, slots=True)
class ProjectMetadata:
    """A project's own metadata.

    Attributes:
        name: name of the distribution.
        version: as stated, or from `git describe` of the tree's commit; `0` if neither is known.
        requires_python: version specifiers; may be empty.
        requirements: the project's own requirements, one per entry.
        entry_points: group to name to `module:object`.
        about: further metadata fields.
        extras: its optional requirements, by name.
        readme: type and text of its description.
    """

    name: str
    version: str
    requires_python: str
    requirements: tuple[str, ...]
    entry_points: Mapping[str, Mapping[str, str]]
    about: Fields = ()
    extras: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    readme: tuple[str, str] = ("", "")

    @property
    def _stem(self) -> str:
        return f"{re.sub(r'[-_.]+', '_', self.name)}-{self.version}"

    def files(self) -> dict[str, str]:
        """Return the files by which an installed package is known, by POSIX path."""
        about = f"{self._stem}.dist-info"
        return {f"{about}/METADATA": self._metadata(), f"{about}/entry_points.txt": self._entry_points()}

    def wheel(self) -> tuple[str, bytes]:
        """Return the name and content of a wheel that holds this metadata and no module."""
        about = f"{self._stem}.dist-info"
        files = {**self.files(), f"{about}/WHEEL": _WHEEL}
        record = "".join(
            f"{name},sha256={_digest(text)},{len(text.encode())}\n" for name, text in files.items()
        )
        files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n"
        content = BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            for name, text in files.items():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
        return f"{self._stem}-py3-none-any.whl", content.getvalue()

    def digest(self) -> str:
        """Return the SHA-256 of the wheel in hexadecimal digits."""
        return hashlib.sha256(self.wheel()[1]).hexdigest()

    def _metadata(self) -> str:
        lines = ["Metadata-Version: 2.4", f"Name: {self.name}", f"Version: {self.version}"]
        lines += [f"{name}: {value}" for name, value in self.about]
        lines += [f"Requires-Python: {self.requires_python}"] if self.requires_python else []
        lines += [f"Requires-Dist: {each}" for each in self.requirements]
        for extra, requirements in self.extras.items():
            lines.append(f"Provides-Extra: {extra}")
            lines += [f"Requires-Dist: {_of_extra(each, extra)}" for each in requirements]
        kind, text = self.readme
        lines += [f"Description-Content-Type: {' '.join(kind.split())}", "", text] if text else []
        return "".join(f"{line}\n" for line in lines)

    def _entry_points(self) -> str:
        return "".join(
            f"[{group}]\n{''.join(f'{name} = {target}{chr(10)}' for name, target in points.items())}\n"
            for group, points in self.entry_points.items()
        )


def project_of(
    tree: Path,
    requirements: Sequence[str] = (),
    extras: Mapping[str, Sequence[str]] | None = None,
    origin: TreeOrigin | None = None,
) -> ProjectMetadata | None:
    """Read a tree's project metadata. Return None if the project has no name.

    Args:
        tree: the project.
        requirements: its requirements.
        extras: its optional requirements, by name.
        origin: of the tree's commit; None reads the record of the tree.

    Raises:
        DeclarationError: one of the project's files cannot be read.
    """
    described = (origin or origin_of(tree)).described
    document = read_toml(tree, "pyproject.toml")
    sources = _statements(tree, document)
    name = _name_in(sources)
    if not name:
        return None
    stated = next((str(each["version"]) for each in sources if each.get("version")), "")
    return ProjectMetadata(
        name=name,
        version=_valid(stated) or _dynamic_version(tree, name, document, described) or UNKNOWN_VERSION,
        requires_python=requires_python(tree),
        requirements=tuple(_readable(requirements)),
        entry_points=entry_points_of(tree),
        about=fields_of(tree, document),
        extras=_usable(extras or {}),
        readme=readme_of(tree, document),
    )


def project_name(tree: Path) -> str:
    """Return the name of a tree's project; empty if it has none.

    Raises:
        DeclarationError: one of the project's files cannot be read.
    """
    return _name_in(_statements(tree, read_toml(tree, "pyproject.toml")))


def _name_in(sources: Sequence[Mapping[str, Any]]) -> str:
    name = next((str(each["name"]) for each in sources if each.get("name")), "")
    return name if _NAME.match(name) else ""


def _statements(tree: Path, document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what states a project's metadata: its table, Poetry's, setup.cfg, setup.py and flit's."""
    return (
        table(document, "project"),
        table(document, "tool", "poetry"),
        read_ini(tree, "setup.cfg").get("metadata", {}),
        setup_arguments(tree),
        {"name": table(document, "tool", "flit", "metadata").get("module")},
    )


def requires_python(tree: Path) -> str:
    """Return the version specifiers for Python that a tree states, or an empty text."""
    given = table(read_toml(tree, "pyproject.toml"), "project").get("requires-python")
    older = read_ini(tree, "setup.cfg").get("options", {}).get("python_requires")
    called = setup_arguments(tree).get("python_requires")
    flit = table(read_toml(tree, "pyproject.toml"), "tool", "flit", "metadata").get("requires-python")
    stated = next(
        (each.strip() for each in (given, older, called, flit) if isinstance(each, str) and each.strip()), ""
    )
    poetry = table(read_toml(tree, "pyproject.toml"), "tool", "poetry", "dependencies").get("python")
    return stated or (specifiers(poetry) if isinstance(poetry, str) else "")


def entry_points_of(tree: Path) -> dict[str, dict[str, str]]:
    """Return the entry points that a tree declares: group to name to `module:object`.

    Raises:
        DeclarationError: one of the project's files cannot be read.
    """
    given, poetry, _, called, _ = _statements(tree, read_toml(tree, "pyproject.toml"))
    found: dict[str, dict[str, str]] = {}
    for key, group in _SCRIPT_GROUPS.items():
        _add(found, group, {**table(poetry, key), **table(given, key)})
    for source in (table(given, "entry-points"), table(poetry, "plugins")):
        for group in source:
            _add(found, group, table(source, group))
    sections = read_ini(tree, "setup.cfg")
    # pbr, a build backend, has its own name for the section.
    listed = {**sections.get("entry_points", {}), **sections.get("options.entry_points", {})}
    older: dict[str, Any] = {**listed, **table(called, "entry_points")}
    for group, lines in older.items():
        pairs = (line.partition("=") for line in texts(lines))
        _add(found, group, {name.strip(): target.strip() for name, _, target in pairs})
    return found


def _add(found: dict[str, dict[str, str]], group: str, points: Mapping[str, Any]) -> None:
    fitting = {
        name: target
        for name, target in points.items()
        if isinstance(target, str) and target and "\n" not in name + target and not set(name) & set("=/[]")
    }
    if fitting and re.fullmatch(r"[\w.-]+", group):
        found.setdefault(group, {}).update(fitting)


def _usable(extras: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    fitting = {name: lines for name, lines in extras.items() if _NAME.match(name)}
    return {name: _readable(lines) for name, lines in fitting.items()}


def _readable(requirements: Sequence[str]) -> list[str]:
    """Return the requirements that installers can read. A single invalid one would spoil all metadata."""
    return [" ".join(each.split()) for each in requirements if _is_requirement(each)]


def _is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def _of_extra(requirement: str, extra: str) -> str:
    """Return a requirement with the marker that makes it part of an extra."""
    text, has_marker, marker = requirement.partition(";")
    condition = f"({marker.strip()}) and extra == '{extra}'" if has_marker else f"extra == '{extra}'"
    return f"{text.strip()} ; {condition}"


def _asks_git(arguments: Mapping[str, Any]) -> bool:
    """Return True if setup.py lets setuptools-scm or a plug-in like it find the version."""
    needed = texts(arguments.get("setup_requires"))
    return any("scm" in each for each in (*arguments, *needed))


def _dynamic_version(tree: Path, name: str, document: Mapping[str, Any], git_description: str) -> str:
    """Find a version that is not stated: from a source archive, from git, or in the code."""
    known = _valid(HeaderParser().parsestr(read_text(tree, "PKG-INFO") or "").get("Version", ""))
    described = described_version(git_description)
    by_git = takes_version_from_git(document) or _asks_git(setup_arguments(tree))
    found = (
        [known, described, _version_in(tree, name, document)]
        if by_git
        else [known, _version_in(tree, name, document), described]
    )
    return next(filter(None, found), "")


def _version_in(tree: Path, name: str, document: Mapping[str, Any]) -> str:
    """Find a version that the tree's code states."""
    module = name.replace("-", "_").replace(".", "_")
    places = [str(table(document, "tool", "hatch", "version").get("path", ""))]
    places += [
        f"{root}{each}/{file}"
        for root in ("src/", "")
        for each in (module, module.lower())
        for file in _VERSION_FILES
    ]
    places += [f"{root}{module}.py" for root in ("src/", "")]
    for place in filter(None, places):
        line = _VERSION_LINE.search(read_text(tree, place) or "")
        if line and _valid(line.group(1)):
            return _valid(line.group(1))
    return ""


def _valid(text: str) -> str:
    try:
        return str(Version(text.strip()))
    except InvalidVersion:
        return ""


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
