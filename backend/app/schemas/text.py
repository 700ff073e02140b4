"""Rules for text that people type, and for text that programs print."""

import unicodedata
from typing import Any, cast

_ALLOWED_CONTROLS = frozenset("\n\t")


def clean_text(value: str) -> str:
    r"""Give `value` with line ends as `\n`; refuse what cannot be stored or shown.

    Raises:
        ValueError: it holds a control character other than tab and line end, or a lone surrogate.
    """
    unified = value.replace("\r\n", "\n").replace("\r", "\n")
    for position, character in enumerate(unified):
        category = unicodedata.category(character)
        if category == "Cs" or (category == "Cc" and character not in _ALLOWED_CONTROLS):
            raise ValueError(
                f"control character U+{ord(character):04X} at position {position} is not allowed"
            )
    return unified


def storable_text(value: str) -> str:
    """Give `value` as Postgres can store it: NUL becomes its visible symbol, a lone surrogate a `?`."""
    return value.replace("\0", "\u2400").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: object) -> Any:
    """Give JSON data with every text in it made storable."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {
            storable_text(str(k)): storable_json(v) for k, v in cast("dict[object, object]", value).items()
        }
    if isinstance(value, list):
        return [storable_json(each) for each in cast("list[object]", value)]
    return value
