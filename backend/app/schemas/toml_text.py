"""Reads values that a request may also give as a text in TOML."""

import tomllib

MAX_TOML_CHARS = 4_000_000


def read_toml(value: object) -> object:
    """Return the document of a text in TOML; anything else is returned as it is.

    Raises:
        ValueError: the text is too long or no TOML; the message names line and column.
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
