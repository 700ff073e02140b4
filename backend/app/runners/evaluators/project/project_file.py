"""Reads a project's `phaserunner.toml`: returns its settings, or every problem with its line."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from app.schemas.project_file import (
    PROJECT_FILE,
    CommandTable,
    CoverageReport,
    EvaluatorTable,
    JUnitReport,
    ProjectFile,
    ProtectedTable,
    SarifReport,
    TestsTable,
    VerdictTable,
)
from app.schemas.toml_lines import Place, line_of, lines_of

MAX_BYTES = 65_536
_MAX_PROBLEMS = 20
_MAX_TABLES = 500
"""Maximum number of brackets in a file. A larger file is not settings, and would take long to read."""
_MAX_DOTS = 200
"""Maximum dots in a line, because the time to read a dotted key grows with the square of its parts."""

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TABLES: Mapping[str, type[BaseModel]] = {
    "evaluators": EvaluatorTable,
    "command": CommandTable,
    "protected": ProtectedTable,
    "tests": TestsTable,
    "verdict": VerdictTable,
}
_REPORTS: Mapping[str, type[BaseModel]] = {
    "junit": JUnitReport,
    "sarif": SarifReport,
    "coverage": CoverageReport,
}
_UNIONS = ("report", "run")
"""Keys after which pydantic inserts the name of the union member that it tried."""


@dataclass(frozen=True, slots=True)
class ProjectFileProblem:
    """One problem.

    `line` counts from 1; `key` is dotted, and empty if the problem concerns the whole file.
    """

    line: int | None
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{PROJECT_FILE}:{self.line}" if self.line else PROJECT_FILE
        return ": ".join(part for part in (where, self.key, self.message) if part)


class ProjectFileError(Exception):
    """The file cannot be used. Each problem names its line and key."""

    def __init__(self, problems: Iterable[ProjectFileProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


@dataclass(frozen=True, slots=True)
class ReadProjectFile:
    """A file's settings, and the place of each of them."""

    settings: ProjectFile
    lines: Mapping[Place, int]

    def problem(self, place: Place, message: str) -> ProjectFileProblem:
        """Return a problem about the setting at a place."""
        return ProjectFileProblem(line_of(self.lines, place), _dotted(place), message)


def read_project_file(content: bytes) -> ReadProjectFile:
    """Read the file.

    Raises:
        ProjectFileError: it is not TOML, or contains invalid settings.
    """
    if len(content) > MAX_BYTES:
        raise ProjectFileError([ProjectFileProblem(None, "", f"is longer than {MAX_BYTES} bytes")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ProjectFileError([ProjectFileProblem(line, "", "is not UTF-8 text")]) from error
    document, lines = _parse(text)
    try:
        settings = ProjectFile.model_validate(document)
    except ValidationError as error:
        raise ProjectFileError(_complaints(error, lines)) from error
    file = ReadProjectFile(settings, lines)
    names = [each.name for each in settings.command]
    if twice := [index for index, name in enumerate(names) if name in names[:index]]:
        message = "is also the name of another command"
        raise ProjectFileError(file.problem(("command", index, "name"), message) for index in twice)
    return file


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    return ProjectFile.model_json_schema()


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?` if something known is spelt alike, else an empty text."""
    near = get_close_matches(given, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def read_options(
    allowed: Mapping[str, TypeAdapter[Any]],
    options: Mapping[str, object],
    file: ReadProjectFile,
    place: Place,
) -> dict[str, Any]:
    """Check an evaluator's own options.

    Raises:
        ProjectFileError: one is unknown or of another type.
    """
    read: dict[str, Any] = {}
    problems: list[ProjectFileProblem] = []
    for name, value in options.items():
        if name not in allowed:
            names = ", ".join(allowed) or "none"
            hint = did_you_mean(name, allowed) or f"; there are: {names}"
            problems.append(file.problem((*place, name), f"is not an option of this evaluator{hint}"))
            continue
        try:
            read[name] = allowed[name].validate_python(value, strict=True)
        except ValidationError as error:
            problems.append(file.problem((*place, name), _message(error.errors(include_url=False)[0])))
    if problems:
        raise ProjectFileError(problems)
    return read


def _parse(text: str) -> tuple[dict[str, Any], dict[Place, int]]:
    if text.count("[") + text.count("{") > _MAX_TABLES:
        raise ProjectFileError(
            [ProjectFileProblem(None, "", f"has more than {_MAX_TABLES} tables and lists")]
        )
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MAX_DOTS:
            raise ProjectFileError([ProjectFileProblem(number, "", f"has more than {_MAX_DOTS} dots")])
    try:
        return tomllib.loads(text), lines_of(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _TOML_PLACE.search(str(error))
        line = int(found.group(1)) if found and found.group(1) else text.count("\n") + 1
        message = _TOML_PLACE.sub("", str(error))
        raise ProjectFileError([ProjectFileProblem(line, "", f"is not TOML: {message}")]) from error


def _complaints(error: ValidationError, lines: Mapping[Place, int]) -> list[ProjectFileProblem]:
    # A value of a union type causes one error for each member; the first says enough.
    problems: dict[str, ProjectFileProblem] = {}
    for each in error.errors(include_url=False):
        place = _without_kinds(each["loc"])
        key = _dotted(place)
        problems.setdefault(key, ProjectFileProblem(line_of(lines, place), key, _message(each)))
    return sorted(problems.values(), key=lambda each: each.line or 0)[:_MAX_PROBLEMS]


def _without_kinds(place: Place) -> Place:
    before = ("", *place)
    return tuple(
        key
        for key, previous in zip(place, before, strict=False)
        if not (previous in _UNIONS and isinstance(key, str))
    )


def _message(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        given = str(error["loc"][-1])
        return f"is not known here{did_you_mean(given, _keys_at(error['loc'][:-1]))}"
    if error["type"] == "string_pattern_mismatch":
        return "must be of small letters, digits and _, and begin with a letter"
    if error["type"] == "union_tag_not_found":
        return "its kind is missing"
    if error["type"] == "union_tag_invalid":
        return f"its kind must be one of {', '.join(_REPORTS)}"
    message = error["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
    return message.replace("Field required", "is missing")


def _keys_at(place: Place) -> list[str]:
    """Return the keys that the table at a place may have."""
    model: type[BaseModel] = ProjectFile
    if place:
        model = _TABLES.get(str(place[0]), ProjectFile)
    if "report" in place[:-1]:
        model = _REPORTS.get(str(place[-1]), model)
    return list(model.model_fields)


def _dotted(place: Place) -> str:
    # Items count from 1 for people.
    text = ""
    for key in place:
        text += f"[{key + 1}]" if isinstance(key, int) else f".{key}"
    return text.removeprefix(".")
