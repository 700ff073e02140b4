"""The files of a language's project that are taken from the base when a preset runs."""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.commands.line_findings import silencers
from app.runners.evaluators.commands.rust_tests import with_tests_of
from app.runners.evaluators.commands.scripts import script_text
from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.tree_files import tree_files
from app.workspaces.files.limits import DEFAULT_LIMITS

_GO_DIRECTIVE = re.compile(r"^[^\S\n]*+(?:(replace|exclude|toolchain|godebug)\b.*|.*=>.*)$", re.MULTILINE)
_CARGO_KEYS = ("test", "bench", "profile", "patch", "replace")
_CARGO_PACKAGE = ("build", "autotests", "autobins", "edition", "rust-version")
_CARGO_LIB = ("test", "doctest", "harness", "path", "proc-macro")


@dataclass(frozen=True, slots=True)
class LanguageSetting:
    """The files of one language that determine a preset's result.

    Attributes:
        protected: globs of names or paths that are taken from the base; a candidate's additions are left out.
        left_out: globs of paths that only a build writes; a candidate's are always left out.
        manifests: names of manifests of which a part matters. If that part changed, the base's file is used.
        lints: whether that part is the levels of a checker's rules.
        inline_tests: whether sources contain tests, as Rust's do.
        silencers: a regular expression for comments that silence a checker; new ones are findings.
        suffixes: suffixes of the sources to search for silencers.
    """

    protected: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    lints: bool = False
    inline_tests: bool = False
    silencers: str = ""
    suffixes: tuple[str, ...] = ()

    def below(self, directory: str) -> "LanguageSetting":
        """Return the setting for a project in a directory of the repository."""
        start = posixpath.normpath(directory) if directory else "."
        if start == ".":
            return self
        protected, left_out = (
            (*globs, *(f"{start}/{each}" for each in globs if "/" in each and not each.startswith("*")))
            for globs in (self.protected, self.left_out)
        )
        return replace(self, protected=protected, left_out=left_out)

    def holds(self, name: str) -> bool:
        """Return True if a file is taken from the base."""
        return _matches(name, self.protected)

    def leaves_out(self, name: str) -> bool:
        """Return True if a candidate's file is the output of a build."""
        return _matches(name, self.left_out)

    def changed_manifests(self, base: Path, tree: Path, kept: Collection[str]) -> set[str]:
        """Return the manifests with a changed part that matters.

        `kept` are the files that both trees have.
        """
        return {
            name
            for name in kept
            if posixpath.basename(name) in self.manifests and self._part(name, base) != self._part(name, tree)
        }

    def _part(self, name: str, tree: Path) -> object:
        text = script_text(tree / name)
        return _lints_of_cargo(text) if self.lints else _deciding(name, text)

    def texts(self, base: Path, tree: Path, kept: Collection[str]) -> dict[str, bytes]:
        """Return the candidate's sources with the base's tests in them, if these differ."""
        if not self.inline_tests:
            return {}
        found: dict[str, bytes] = {}
        for name in kept:
            if name.endswith(".rs") and not self.holds(name):
                before, after = script_text(base / name), script_text(tree / name)
                made = after if before == after else with_tests_of(before, after)
                if made != after:
                    found[name] = made.encode()
        return found

    def silenced(self, tree: Path) -> list[Finding]:
        """Return the comments in a tree's sources that silence the checker.

        Raises:
            WorkspaceError: the tree is larger than the limits allow.
        """
        if not self.silencers:
            return []
        return list(silencers(tree, tree_files(tree, DEFAULT_LIMITS), self.silencers, self.suffixes))


def _matches(name: str, globs: Collection[str]) -> bool:
    parts = (name, posixpath.basename(name))
    return any(fnmatchcase(each, glob) for each in parts for glob in globs)


def _deciding(name: str, text: str) -> object:
    reader = _READERS.get(posixpath.basename(name))
    return reader(text) if reader else text


def _of_go(text: str) -> object:
    return [" ".join(each[0].split()) for each in _GO_DIRECTIVE.finditer(text)]


def _of_cargo(text: str) -> object:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    parts = {key: document.get(key) for key in _CARGO_KEYS}
    # Further features change nothing unless they are on by default.
    parts["features"] = _table(document.get("features")).get("default")
    for table, keys in (("package", _CARGO_PACKAGE), ("lib", _CARGO_LIB)):
        inner = _table(document.get(table))
        parts |= {f"{table}.{key}": inner.get(key) for key in keys}
    dependencies = {
        key: _table(document.get(key)) for key in ("dependencies", "dev-dependencies", "build-dependencies")
    }
    # A dependency with another path or name can replace one of the test tools.
    parts["moved"] = {
        (kind, name): json.dumps(value, sort_keys=True, default=str)
        for kind, table in dependencies.items()
        for name, value in table.items()
        if kind == "dev-dependencies" and _table(value).keys() & {"path", "git", "package"}
    }
    return parts


def _lints_of_cargo(text: str) -> object:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return document.get("lints"), _table(document.get("workspace")).get("lints")


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


_READERS: Mapping[str, Callable[[str], object]] = {"go.mod": _of_go, "Cargo.toml": _of_cargo}
