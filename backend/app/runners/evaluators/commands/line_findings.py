"""Reads findings from a checker's output lines, and finds comments that silence it."""

import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.commands.junit import ReportError
from app.runners.evaluators.commands.sarif import Sarif
from app.runners.evaluators.static.baseline import Finding

SILENCED = "silenced"
"""The rule of a comment that silences a checker."""

_LINE_CHARS = 2000
_MAX_BYTES = 2_000_000


def read_lines(text: str, tree: Path, pattern: str, directory: str = "", here: Path | None = None) -> Sarif:
    """Return the findings in the lines of `text`. A repeated line counts once.

    Args:
        text: the checker's output.
        tree: the copy on which it ran; absolute paths begin with it.
        pattern: matches file, line and message.
        directory: where the checker started, below the tree.
        here: a tree with the same files that still exists.
    """
    matcher = re.compile(pattern)
    found = (matcher.search(line[:_LINE_CHARS]) for line in text.splitlines())
    findings = sorted({_from_root(_finding(each, tree), directory, here or tree) for each in found if each})
    return Sarif(tuple(findings), len(findings))


def read_eslint(data: bytes, tree: Path) -> Sarif:
    """Return the findings in eslint's JSON. Suppressed ones count, too.

    Raises:
        ReportError: it is not such a report.
    """
    try:
        document: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report of eslint cannot be read: {str(error)[:200]}") from error
    if not isinstance(document, list):
        raise ReportError("the report of eslint is not a list of files")
    found: list[Finding] = []
    suppressed: set[Finding] = set()
    for file in map(_object, cast("list[object]", document)):
        name = str(file.get("filePath", "")).removeprefix(f"{tree.as_posix()}/")
        for key in ("messages", "suppressedMessages"):
            told = [_message(name, _object(each)) for each in cast("list[object]", file.get(key) or [])]
            found += told
            suppressed.update(told if key.startswith("suppressed") else ())
    return Sarif(tuple(sorted(found)), len(found), frozenset(suppressed))


def _message(file: str, message: Mapping[str, Any]) -> Finding:
    line = message.get("line")
    rule = str(message.get("ruleId") or "eslint")
    return Finding(file, line if isinstance(line, int) else 1, rule, str(message.get("message", "")))


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def silencers(tree: Path, names: Iterable[str], pattern: str, suffixes: tuple[str, ...]) -> Iterator[Finding]:
    """Yield each comment that silences a checker, as a finding. `suffixes` are those of source files."""
    matcher = re.compile(pattern)
    for name in names:
        if name.endswith(suffixes):
            for number, line in enumerate(_text(tree / name).splitlines(), 1):
                if matcher.search(line[:_LINE_CHARS]):
                    yield Finding(name, number, SILENCED, " ".join(line.split()))


def _finding(found: re.Match[str], tree: Path) -> Finding:
    groups = found.groupdict()
    file = posixpath.normpath(groups["file"].replace("\\", "/")).removeprefix(f"{tree.as_posix()}/")
    line = groups["line"]
    message = " ".join((groups["message"] or "").split())
    return Finding(file, int(line) if line.isdigit() else 1, groups.get("rule") or "finding", message)


def _from_root(finding: Finding, directory: str, tree: Path) -> Finding:
    """Return a finding with its path relative to the root. Tools write paths relative to where they start."""
    name = posixpath.normpath(posixpath.join(directory, finding.file))
    is_there = directory and not name.startswith("..") and os.path.isfile(tree / name)
    return replace(finding, file=name) if is_there else finding


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or path.stat().st_size > _MAX_BYTES:
            return ""
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
