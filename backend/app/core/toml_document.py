"""Reads the operator's TOML documents into models; each error names line and key."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.core.errors import InvalidInputError
from app.schemas.toml_lines import Place, line_of, lines_of

_MAX_BYTES = 1_000_000
_MAX_PROBLEMS = 5
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a document, and the keys where."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class TomlDocument(Generic[ModelT]):
    """A kind of document.

    Attributes:
        model: the model that a document must fit.
        setting: the setting with the document's path; errors name it as the field.
        complaint: turns a model's error into words.
    """

    model: type[ModelT]
    setting: str
    complaint: Callable[[ErrorDetails], Complaint]

    def load(self, path: Path) -> ModelT:
        """Read a file.

        Raises:
            InvalidInputError: the file cannot be read, is not TOML, or does not fit the model; the message
                names line and key.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise self._refused(f"{path}: cannot be read: {error.strerror}") from error
        if len(content) > _MAX_BYTES:
            raise self._refused(f"{path}: is longer than {_MAX_BYTES:,} bytes")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self._refused(f"{path}:{line}: is not UTF-8 text") from error
        return self.parse(text, str(path))

    def parse(self, text: str, name: str) -> ModelT:
        """Read a document's text; `name` is its name in errors.

        Raises:
            InvalidInputError: as in `load`.
        """
        try:
            document, lines = tomllib.loads(text), lines_of(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            found = _TOML_PLACE.search(str(error))
            line = int(found[1]) if found and found[1] else text.count("\n") + 1
            message = _TOML_PLACE.sub("", str(error))
            raise self._refused(f"{name}:{line}: is not TOML: {message}") from error
        try:
            return self.model.model_validate(document)
        except ValidationError as error:
            complaints = map(self.complaint, error.errors(include_url=False)[:_MAX_PROBLEMS])
            raise self._refused("; ".join(_line(each, lines, name) for each in complaints)) from error

    def _refused(self, detail: str) -> InvalidInputError:
        return InvalidInputError(detail, field=self.setting)


def place_of(error: ErrorDetails) -> Place:
    """Return the keys that an error of a model is about."""
    return tuple(each for each in error["loc"] if each != "[key]")


def _line(complaint: Complaint, lines: Mapping[Place, int], name: str) -> str:
    line = line_of(lines, complaint.place)
    where = f"{name}:{line}" if line else name
    return f"{where}: {'.'.join(map(str, complaint.place))}: {complaint.message}"
