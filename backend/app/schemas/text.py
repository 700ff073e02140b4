"""Rules for text that people type, and for text that programs print."""

import math
import re
import unicodedata
from pathlib import PurePosixPath
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field

MAX_GOAL_CHARS = 100_000

_ALLOWED_CONTROLS = frozenset("\n\t")

# With an odd number of backslashes before it, it is no NUL but a text in which these six characters stand.
_NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def clean_text(value: str) -> str:
    r"""Return `value` with line ends as `\n`; refuse what cannot be stored or shown.

    Raises:
        ValueError: it contains a control character other than tab and line end, or a lone surrogate.
    """
    unified = value.replace("\r\n", "\n").replace("\r", "\n")
    for position, character in enumerate(unified):
        category = unicodedata.category(character)
        if category == "Cs" or (category == "Cc" and character not in _ALLOWED_CONTROLS):
            raise ValueError(
                f"control character U+{ord(character):04X} at position {position} is not allowed"
            )
    return unified


def clean_line(value: str) -> str:
    """Return `value` if it is clean text on one line.

    Raises:
        ValueError: it is not.
    """
    if any(character in value for character in "\n\r\t"):
        raise ValueError("must be one line without tabs")
    return clean_text(value)


def relative_path(value: str) -> str:
    """Return `value` if it names a place inside a tree, on one line.

    Raises:
        ValueError: it is absolute, or leads outside with `..`.
    """
    path = PurePosixPath(clean_line(value))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("must be a path inside the workspace")
    return str(path)


CleanText = Annotated[str, AfterValidator(clean_text)]
CleanLine = Annotated[str, AfterValidator(clean_line)]
RelativePath = Annotated[str, AfterValidator(relative_path)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}$")]
"""The name of an input, or of something else that texts refer to."""

PathGlob = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(relative_path)]
"""A glob over the paths of a tree; `*` also matches `/`, and a directory stands for all below it."""


TestGlob = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A glob over ids of tests, such as `tests/test_core.py::test_*`."""


def storable_text(value: str) -> str:
    """Return `value` as Postgres can store it: NUL becomes its visible symbol, a lone surrogate a `?`."""
    return value.replace("\0", "\u2400").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: object) -> Any:
    """Return JSON data with every text in it made storable; numbers that JSON lacks become null."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {
            storable_text(str(k)): storable_json(v) for k, v in cast("dict[object, object]", value).items()
        }
    if isinstance(value, list | tuple):
        return [storable_json(each) for each in cast("list[object]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def storable_document(document: str) -> str:
    """Return a JSON document as Postgres can store it: NUL in its texts becomes its visible symbol."""
    return _NUL_IN_JSON.sub(r"\1\\u2400", document) if "\\u0000" in document else document
