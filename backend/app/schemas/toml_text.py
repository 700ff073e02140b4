"""Reads values that a request may also give as TOML text."""

import tomllib

MAX_TOML_CHARS = 4_000_000


def read_toml(value: object) -> object:
    """Return the document of a TOML text; return any other value unchanged.

    Raises:
        ValueError: the text is too long or is not TOML; the message names line and column.
    """
    if not isinstance(value, str):
        return value
    if len(value) > MAX_TOML_CHARS:
        raise ValueError(f"must have at most {MAX_TOML_CHARS:,} characters")
    try:
        return tomllib.loads(value)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is neither an object nor TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error
