"""Chooses the linter's configuration: the base tree's, file for file, or quiet rules of our own."""

import os
import re
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

# Rules about faults, not taste: E4 and E7 fail one in eight of HumanEval's good solutions, these none.
# Re-exports are the purpose of an `__init__.py`.
_QUIET = (
    "--isolated",
    "--select=E9,F",
    "--per-file-ignores=__init__.py:F401",
    f"--target-version=py{sys.version_info.major}{sys.version_info.minor}",
)
_QUIET_FILE = f"""
target-version = "py{sys.version_info.major}{sys.version_info.minor}"
lint.select = ["E9", "F"]
lint.per-file-ignores = {{ "__init__.py" = ["F401"] }}
""".encode()
# Faults under any rules: code that cannot be parsed or run, undefined names, comparisons that cannot be
# intended.
_ALWAYS_COUNTS = re.compile(r"E9|F63|F7|F82|(?!(?:[A-Z]+[0-9]+)$)")
_CODE = re.compile(r"[A-Z]+[0-9]+")
_FAULT_NAMES = frozenset(
    [
        "assert-tuple",
        "break-outside-loop",
        "continue-outside-loop",
        "default-except-not-last",
        "forward-annotation-syntax-error",
        "if-tuple",
        "invalid-print-syntax",
        "io-error",
        "is-literal",
        "return-outside-function",
        "syntax-error",
        "undefined-export",
        "undefined-local",
        "undefined-name",
        "yield-outside-function",
    ]
)
# Ruff's default rules before they grew to some four hundred. A project that only adds to the defaults has
# agreed to these, not to those of a later release.
_LONG_DEFAULT = ("E4", "E7", "E9", "F")
_OWN_FILES = (".ruff.toml", "ruff.toml")
_MAX_FILES = 1000
_MAX_BYTES = 1_000_000
_NOWHERE = "//"
# The project's own ruff may be another release. That is no reason to lint without the project's rules.
_REQUIRED_VERSION = re.compile(rb"^[ \t]*required-version[ \t]*=[^\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LintRules:
    """How to call the linter.

    Attributes:
        arguments: those that choose the rules.
        source: who chose them, for people.
        files: configuration files to put beside the code, by their path in the tree.
        unconfigured: True if the project does not configure its linter, or in a way that cannot be used.
        chosen: prefixes of the rules that the project chose.
    """

    arguments: tuple[str, ...]
    source: str
    files: Mapping[str, bytes]
    unconfigured: bool = False
    chosen: tuple[str, ...] = ("ALL",)

    @property
    def built_in(self) -> bool:
        """True if the rules are our own, under which every file is linted."""
        return not self.files

    def aimed_at(self, target: str) -> "LintRules":
        """Return these rules for another version of Python, such as `py39`."""
        others = (each for each in self.arguments if not each.startswith("--target-version"))
        return replace(self, arguments=(*others, f"--target-version={target}"))

    def without(self, codes: Collection[str]) -> "LintRules":
        """Return these rules without codes that the linter does not know, wherever files name them."""
        if not codes:
            return self
        named = re.compile(rb"([\"'])(?:%s)\1[ \t]*,?" % "|".join(map(re.escape, sorted(codes))).encode())
        files = {name: named.sub(b"", data) for name, data in self.files.items()}
        source = f"{self.source}, without rules that this ruff does not have: {', '.join(sorted(codes))}"
        return replace(self, files=files, source=source)

    def chooses(self, rule: str) -> bool:
        """Return True if the project chose a rule. Rules only in ruff's present defaults are not chosen."""
        return is_fault(rule) or any(_has_prefix(rule, each) for each in self.chosen)


def quiet(reason: str = "") -> LintRules:
    """Return our own rules. `reason` says why the project's are not used."""
    source = f"built-in ({reason})" if reason else "built-in"
    return LintRules(_QUIET, source, {}, unconfigured=True)


def rules_of(base: Path | None) -> LintRules:
    """Return the rules in the base tree's root and directories, or our own if there are none.

    All TOML files are included, because one may extend another.
    """
    if base is None:
        return quiet()
    files = dict(_toml_files(base))
    configuring = [name for name, data in files.items() if _configures(name, data)]
    if not configuring:
        return quiet()
    root = next((name for name in (*_OWN_FILES, "pyproject.toml") if name in configuring), None)
    source = f"base {root or min(configuring)}"
    if root is None:
        files["ruff.toml"] = _QUIET_FILE
    # The files are named one by one, so without --force-exclude ruff would lint files that the project
    # excludes. Ruff's own default exclusions (`build`, `site-packages`) only apply if the project has them.
    # E9 is how ruff reports that it could not read a file.
    arguments = ["--force-exclude", "--extend-select=E9"]
    if not any("exclude" in _settings(name, data) for name, data in files.items()):
        arguments.append(f"--exclude={_NOWHERE}")
    return LintRules(tuple(arguments), source, files, chosen=_chosen(files))


def is_fault(rule: str) -> bool:
    """Return True if this rule counts in every project, except among data of tests (see `BrokenOften`)."""
    return _ALWAYS_COUNTS.match(rule) is not None


def names_fault(rule: str) -> bool:
    """Return True if a code, or a rule's name in a comment (`ruff:ignore[io-error]`), is for a fault."""
    return rule in _FAULT_NAMES or (_CODE.fullmatch(rule) is not None and is_fault(rule))


def lay_out(rules: LintRules, into: Path) -> None:
    """Write the configuration files into a copy of the code."""
    for name, data in rules.files.items():
        path = into / name
        # If the candidate has a file in place of a directory, there is nothing to configure.
        with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _chosen(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the rule prefixes in configuration files, with the old defaults if none selects rules."""
    selected: set[str] = set()
    added: set[str] = set()
    for name, data in files.items():
        settings = _settings(name, data)
        for part in (settings, _table(settings, "lint")):
            selected.update(_texts(part.get("select")))
            added.update(_texts(part.get("extend-select")))
    return tuple(sorted((selected or {*_LONG_DEFAULT}) | added))


def _has_prefix(rule: str, prefix: str) -> bool:
    """Return True if ruff's prefix includes a rule: `I` means I001 and not ICN001, `PL` all of pylint's."""
    rest = rule.removeprefix(prefix)
    return prefix == "ALL" or (rest != rule and (rest == "" or rest.isdigit() or prefix == "PL"))


def _toml_files(base: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the TOML files of a tree. Those of installed packages configure nothing here."""
    count = 0
    for directory, subdirectories, names in os.walk(base):
        subdirectories[:] = [each for each in subdirectories if each not in ("site-packages", "node_modules")]
        for name in names:
            path = Path(directory, name)
            if path.suffix == ".toml" and path.is_file() and path.stat().st_size <= _MAX_BYTES:
                count += 1
                if count > _MAX_FILES:
                    return
                yield path.relative_to(base).as_posix(), _REQUIRED_VERSION.sub(b"", path.read_bytes())


def _configures(name: str, data: bytes) -> bool:
    if Path(name).name in _OWN_FILES:
        return True
    return Path(name).name == "pyproject.toml" and "ruff" in _table(_document(data), "tool")


def _settings(name: str, data: bytes) -> Mapping[str, Any]:
    document = _document(data)
    return _table(_table(document, "tool"), "ruff") if Path(name).name == "pyproject.toml" else document


def _document(data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _texts(value: object) -> list[str]:
    return (
        [each for each in cast("list[object]", value) if isinstance(each, str)]
        if isinstance(value, list)
        else []
    )


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
