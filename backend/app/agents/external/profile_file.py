"""Reads profiles of agents from TOML; each error names line and key."""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.agents.external.profile import AgentProfile, AgentsFile
from app.core.errors import InvalidInputError
from app.schemas.toml_lines import Place, line_of, lines_of

_BUILT_IN = Path(__file__).with_name("built_in.toml")
_MAX_BYTES = 1_000_000
_MAX_PROBLEMS = 5
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_SETTING = "AGENTS_FILE"


@lru_cache(maxsize=1)
def built_in_profiles() -> Mapping[str, AgentProfile]:
    """Return the profiles that come with PhaseRunner."""
    return MappingProxyType(parse_profiles(_BUILT_IN.read_text(encoding="utf-8"), _BUILT_IN.name))


def load_profiles(path: Path | None) -> Mapping[str, AgentProfile]:
    """Return the built-in profiles, and those of the operator's file, which replace built-in ones.

    Raises:
        InvalidInputError: the file cannot be read, is no TOML or says what it must not; the message names
            line and key.
    """
    if path is None:
        return built_in_profiles()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path}: cannot be read: {error.strerror}", field=_SETTING) from error
    if len(content) > _MAX_BYTES:
        raise InvalidInputError(f"{path}: is longer than {_MAX_BYTES:,} bytes", field=_SETTING)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(f"{path}:{line}: is not UTF-8 text", field=_SETTING) from error
    return MappingProxyType({**built_in_profiles(), **parse_profiles(text, str(path))})


def parse_profiles(text: str, name: str) -> dict[str, AgentProfile]:
    """Read profiles from TOML; `name` is what errors call the document.

    Raises:
        InvalidInputError: as in `load_profiles`.
    """
    try:
        document, lines = tomllib.loads(text), lines_of(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _TOML_PLACE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        message = _TOML_PLACE.sub("", str(error))
        raise InvalidInputError(f"{name}:{line}: is not TOML: {message}", field=_SETTING) from error
    try:
        return AgentsFile.model_validate(document).agents
    except ValidationError as error:
        problems = [_problem(each, lines, name) for each in error.errors(include_url=False)[:_MAX_PROBLEMS]]
        raise InvalidInputError("; ".join(problems), field=_SETTING) from error


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a file of profiles."""
    return AgentsFile.model_json_schema()


def _problem(error: ErrorDetails, lines: Mapping[Place, int], name: str) -> str:
    place: Place = tuple(each for each in error["loc"] if each != "[key]")
    line = line_of(lines, place)
    where = f"{name}:{line}" if line else name
    return f"{where}: {'.'.join(map(str, place))}: {_message(error)}"


def _message(error: ErrorDetails) -> str:
    match error["type"]:
        case "extra_forbidden":
            known = AgentsFile.model_fields if len(error["loc"]) == 1 else AgentProfile.model_fields
            near = get_close_matches(str(error["loc"][-1]), list(known), 1)
            return f"is not known here{f'; did you mean {near[0]}?' if near else ''}"
        case "string_pattern_mismatch" if error["loc"][-1] == "[key]":
            return "must be small letters, digits and -, and begin with a letter"
        case "string_pattern_mismatch":
            return "must be npm:NAME or pypi:NAME"
        case _:
            message = error["msg"]
            own = message.removeprefix("Value error, ")
            return own if own != message else message[:1].lower() + message[1:]
