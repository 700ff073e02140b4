"""Reads Cobertura XML, and determines how many lines that are new against the base were executed."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.added_lines import added_lines
from app.runners.evaluators.commands.junit import ReportError
from app.schemas.loop.safe_xml import Element, UnsafeXmlError, parse_xml

_MAX_FILE_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class NewLines:
    """The executable lines of one file that are new against the base. Numbers count from 1."""

    file: str
    executed: tuple[int, ...]
    missed: tuple[int, ...]


def read_coverage(data: bytes, ran_in: Path, tree: Path) -> dict[str, dict[int, bool]]:
    """Return the executable lines of each file of `tree`, and whether they were executed.

    Args:
        data: the report.
        ran_in: the copy of the tree in which it was written; absolute paths refer to it.
        tree: where the files are.

    Raises:
        ReportError: it is not Cobertura XML, or names no executable line in any file of the tree.
    """
    try:
        root = parse_xml(data)
    except UnsafeXmlError as error:
        raise ReportError(f"the coverage report cannot be read: {error}") from error
    if root.tag != "coverage":
        raise ReportError(f"the coverage report's root element is <{root.tag[:50]}>")
    sources = [each.text.strip() for each in root.walk() if each.tag == "source"]
    measured: dict[str, dict[int, bool]] = {}
    for each in root.walk():
        if each.tag == "class":
            name = _name(each.attributes.get("filename", ""), sources, ran_in, tree)
            if name is not None:
                lines = measured.setdefault(name, {})
                for number, hit in _lines(each):
                    lines[number] = lines.get(number, False) or hit
    if not any(measured.values()):
        raise ReportError("the coverage report names no line of any file of the project")
    return measured


def new_lines(measured: Mapping[str, Mapping[int, bool]], tree: Path, base: Path | None) -> list[NewLines]:
    """Return the new executable lines of each file that has some. Without a base every line is new."""
    found: list[NewLines] = []
    for name, lines in sorted(measured.items()):
        before = _text_of(base / name) if base else []
        added = added_lines(before, _text_of(tree / name))
        relevant = sorted(set(lines) & added)
        if relevant:
            executed = tuple(number for number in relevant if lines[number])
            missed = tuple(number for number in relevant if not lines[number])
            found.append(NewLines(name, executed, missed))
    return found


def _name(given: str, sources: Sequence[str], ran_in: Path, tree: Path) -> str | None:
    for source in ("", *sources):
        path = Path(os.path.normpath(ran_in / source / given))
        if path.is_relative_to(ran_in):
            inside = path.relative_to(ran_in)
            if os.path.isfile(tree / inside) and not (tree / inside).is_symlink():
                return inside.as_posix()
    return None


def _lines(element: Element) -> Iterator[tuple[int, bool]]:
    for each in element.walk():
        if each.tag == "line":
            number, hits = each.attributes.get("number", ""), each.attributes.get("hits", "0")
            if number.isascii() and number.isdigit() and len(number) < 10:
                yield int(number), hits.isascii() and hits.isdigit() and hits.strip("0") != ""


def _text_of(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES).splitlines()
    except OSError:
        return []
