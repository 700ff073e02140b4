"""Reads an agent's script from a TOML file."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.core.errors import InvalidInputError
from app.schemas.agent_script import MAX_SCRIPT_CHARS, AgentScript

# UTF-8 needs at most four bytes for a character; the syntax around the text is small compared to that.
_MAX_BYTES = 4 * MAX_SCRIPT_CHARS


def load_script(path: Path) -> AgentScript:
    """Read the script in `path`.

    Raises:
        InvalidInputError: the file cannot be read, is not TOML (the message names line and column) or is not
            a
            script (the message and `field` name the value, as in `phases.coding[1].edits[0].path`).
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InvalidInputError(f"{path}: the script is larger than {_MAX_BYTES:,} bytes", field="script")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(
            f"{path}: the script cannot be read: {error.strerror}", field="script"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path}: the script is not UTF-8 at byte {error.start}", field="script"
        ) from error
    return parse_script(text, str(path))


def parse_script(text: str, name: str) -> AgentScript:
    """Read a script from TOML. Errors call the document `name`.

    Raises:
        InvalidInputError: as in `load_script`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{name}: {error}", field="script") from error
    except RecursionError as error:
        raise InvalidInputError(f"{name}: values are nested too deeply", field="script") from error
    try:
        return AgentScript.model_validate(document)
    except ValidationError as error:
        problems = [(_place(each["loc"]), each["msg"]) for each in error.errors(include_url=False)]
        told = "; ".join(f"{place}: {problem}" if place else problem for place, problem in problems[:5])
        raise InvalidInputError(f"{name}: {told}", field=problems[0][0] or "script") from error


def _place(location: tuple[Any, ...]) -> str:
    place = ""
    for part in location:
        # The names of union members are internal; they do not occur in the file.
        if isinstance(part, str) and part in ("write", "replace", "delete"):
            continue
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    return place.removeprefix(".")
