"""Chooses the pytest plug-ins of a run."""

import re
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .plugin_entries import Plugin, name_of, normal, plugin_entries

_NO_CODE = "Generator: phaserunner"
"""Marks the distribution that represents the judged project: it has metadata and no module."""

_BLOCKED = "no:"
_DONT_REWRITE = "PYTEST_DONT_REWRITE"
_SCANNED_BYTES = 8_000_000
_PLUGIN_OF_OPTION = {
    "--hypothesis-profile": "hypothesispytest",
    "--hypothesis-seed": "hypothesispytest",
    "--ds": "django",
    "--dc": "django",
}
_OPTIONS = {
    # A benchmark is a test, too, but timing many rounds does not show whether code is correct.
    "benchmark": "--benchmark-disable",
    # A snapshot whose test is in the candidate's files, or in others than are run, fails no run.
    "syrupy": "--snapshot-warn-unused",
}
_OLDEST_WITH = {"--override-ini=consider_namespace_packages=true": (8, 1)}
_FIXTURES = (
    re.compile(
        r"^@(?:pytest\.)?fixture\b(?:\([^)]*\))?[ \t]*\n(?:@.*\n)*(?:async[ \t]+)?def[ \t]+(\w+)",
        re.MULTILINE,
    ),
    re.compile(r"^@(?:pytest\.)?fixture\([^)]*\bname\s*=\s*[\"'](\w+)", re.MULTILINE),
    re.compile(r"^(\w+)\s*=\s*(?:pytest\.)?fixture\b", re.MULTILINE),
)

_MARKER = re.compile(r"addinivalue_line\(\s*[\"']markers[\"'],\s*[rf]?[\"']+(\w+)")
_MARK = re.compile(r"\bmark\.(\w+)")


class PinnedModules:
    """Finds modules with some names where the import path had them when this was created, if anywhere."""

    def __init__(self, names: "list[str]") -> None:
        self._names = frozenset(names)
        self._path = list(sys.path)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> "ModuleSpec | None":
        """Return a pinned module. Modules in a package are found by the package's own path."""
        return PathFinder.find_spec(name, self._path) if path is None and name in self._names else None


def set_aside(packages: "list[str]") -> "dict[str, ModuleType]":
    """Remove some packages from pytest's imported modules, so that tests get those in the tree.

    Pytest keeps the objects that it has.

    Args:
        packages: packages that the tests are about, although pytest itself uses released versions of them.

    Returns:
        The modules that can no longer be imported by their names.
    """
    names = [name for name in sys.modules if name.partition(".")[0] in packages]
    return {name: sys.modules.pop(name) for name in names}


def needed_plugins(sources: "list[str]") -> "list[str]":
    """Return the installed plug-ins that the given files mention.

    Loading every installed plug-in takes more time than most test runs. A project that needs one says so in
    its configuration or in its tests (a marker, a fixture, an import). The name of a marker or a fixture may
    not resemble its plug-in's, so those that a plug-in's module defines are searched for, too.
    """
    text = _read_all(sources)
    words, marks = frozenset(re.findall(r"\w+", text)), frozenset(_MARK.findall(text))
    entries = plugin_entries()
    named = [each for each in entries if _is_named(each, text) or _defines(each, words, marks)]
    return sorted(_with_required(named, entries))


def _is_named(entry: Plugin, text: str) -> bool:
    """Return True if a text names a plug-in or the module that tests import from it, hyphens or not."""
    names = {_word(entry.name), _word(entry.value.partition(":")[0].strip().partition(".")[0])}
    forms = ["[-_]?".join(map(re.escape, re.split("[-_]", name))) for name in names]
    return any(re.search(rf"(?<![a-z0-9]){each}", text) for each in forms)


def _defines(entry: Plugin, words: "frozenset[str]", marks: "frozenset[str]") -> bool:
    """Return True if a plug-in's module defines a fixture among some words, or registers one of some markers.

    The module is read in lower case, not imported.
    """
    text = _module(entry)
    fixtures = [name for form in _FIXTURES for name in form.findall(text)]
    return not (words.isdisjoint(fixtures) and marks.isdisjoint(_MARKER.findall(text)))


def installed_plugins() -> "set[str]":
    """Return the plug-ins of the interpreter. Call this before a tree is on the import path."""
    return {entry.name for entry in plugin_entries()}


def unloadable(names: "list[str]") -> "dict[str, str]":
    """Return the plug-ins among some installed ones that cannot be imported, each with the reason."""
    found: dict[str, str] = {}
    for entry in plugin_entries():
        if entry.name not in names:
            continue
        try:
            entry.entry.load()
        except Exception as error:  # noqa: BLE001 - what a plugin raises is its own choice
            found[entry.name] = f"{type(error).__name__}: {error}"
    return found


def need_no_rewriting() -> None:
    """Mark the loaded plug-ins for pytest sessions that tests start in this process.

    A session warns of a plug-in that was imported without its assertions rewritten, and tests of plug-ins
    count warnings. Here plug-ins are loaded one by one, so pytest has rewritten none. Call this before a tree
    is on the import path: what the tree holds is left as it is.
    """
    tops = {entry.value.partition(":")[0].strip().partition(".")[0] for entry in plugin_entries()}
    for module in filter(None, map(sys.modules.get, tops)):
        module.__doc__ = f"{module.__doc__ or ''}\n{_DONT_REWRITE}"


def pytest_version() -> "tuple[int, ...]":
    """Return the first two numbers of pytest's version."""
    return tuple(int(part) for part in pytest.__version__.split(".")[:2])


def without_options_of_others(arguments: "list[str]", plugins: "list[str]") -> "list[str]":
    """Return arguments without the options of plug-ins that are not among these, or of a newer pytest.

    Pytest would refuse them.
    """
    version = pytest_version()
    known = [each for each in arguments if _OLDEST_WITH.get(each, version) <= version]
    return [each for each in known if _PLUGIN_OF_OPTION.get(each.partition("=")[0], "") in ("", *plugins)]


def options_of_plugins(plugins: "list[str]") -> "list[str]":
    """Return the options with which some plug-ins let a run say only whether its tests pass."""
    return [option for name, option in _OPTIONS.items() if name in plugins]


def options_to_load(plugins: "list[str]") -> "list[str]":
    """Return the options that load plug-ins, or block them (`no:legacypath`)."""
    return [part for name in plugins for part in ("-p", name)]


def built_on_project() -> "set[str]":
    """Return the installed plug-ins whose distributions need the judged project itself.

    They cannot be imported before the tree is on the import path.
    """
    wheels = ((each, each.read_text("WHEEL") or "") for each in distributions())
    found = {normal(each.metadata["Name"] or "") for each, wheel in wheels if _NO_CODE in wheel}
    if not found:
        return found
    plugins = [each for each in plugin_entries() if each.dist]
    requires = _requirements([each.dist for each in plugins if each.dist])
    before = 0
    while len(found) > before:
        before = len(found)
        found.update(name for name, needed in requires.items() if not needed.isdisjoint(found))
    return {each.name for each in plugins if each.dist and name_of(each.dist) in found}


def _requirements(left: "list[Distribution]") -> "dict[str, set[str]]":
    """Return what some distributions require, and what those require in turn, by name.

    Not that of every one that is installed: to read it all takes as long as to import pytest.
    """
    requires: dict[str, set[str]] = {}
    while left:
        each = left.pop()
        name = normal(each.metadata["Name"] or "")
        if name not in requires:
            requires[name] = {_required(line) for line in each.requires or ()}
            left += filter(None, map(_installed, filter(None, requires[name])))
    return requires


def _installed(name: str) -> "Distribution | None":
    try:
        return distribution(name)
    except PackageNotFoundError:  # it is for another platform, for instance
        return None


def _module(entry: Plugin) -> str:
    """Return the text of a plug-in's module, in lower case."""
    name = entry.value.partition(":")[0].strip().replace(".", "/")
    if entry.dist is None:
        return ""
    return _read_all([str(entry.dist.locate_file(f"{name}{end}")) for end in (".py", "/__init__.py")])


def _with_required(chosen: "list[Plugin]", entries: "list[Plugin]") -> "set[str]":
    """Return plug-ins with those that their distributions need, because fixtures may use each other."""
    names = {each.name for each in chosen}
    needed = {_required(line) for each in chosen for line in (each.dist and each.dist.requires) or ()}
    further = [each for each in entries if each.dist and name_of(each.dist) in needed]
    missing = [each for each in further if each.name not in names]
    return _with_required([*chosen, *missing], entries) if missing else names


def _required(line: str) -> str:
    """Return the distribution that a requirement names; empty if only an extra needs it."""
    requirement, _, marker = line.partition(";")
    found = re.match(r"[\w.-]+", requirement.strip())
    return normal(found.group()) if found and "extra" not in marker else ""


def usable(arguments: "list[str]") -> "list[str]":
    """Leave out the plug-ins that exist only in the tree, because they may be the candidate's."""
    used: list[str] = []
    words = iter(arguments)
    for word in words:
        if word != "-p":
            used.append(word)
        elif is_installed(name := next(words, "")):
            used += [word, name]
    return used


def is_installed(plugin: str) -> bool:
    """Return True if a plug-in named by `-p` can be imported without the tree that is run."""
    if plugin.startswith(_BLOCKED) or plugin in installed_plugins():
        return True
    top = plugin.partition(".")[0]
    return find_spec(top) is not None or find_spec(f"_pytest.{top}") is not None


def _word(plugin: str) -> str:
    return re.sub(r"^pytest[_-]?|[_-]?pytest$", "", plugin.lower()) or plugin


def _read_all(sources: "list[str]") -> str:
    parts: list[str] = []
    left = _SCANNED_BYTES
    for source in sources:
        try:
            with Path(source).open("rb") as file:
                part = file.read(left)
        except OSError:
            continue
        left -= len(part)
        parts.append(part.decode("utf-8", "replace").lower())
    return "\n".join(parts)
