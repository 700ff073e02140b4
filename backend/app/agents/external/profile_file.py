"""Reads profiles of agents from TOML. Each error names line and key."""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic_core import ErrorDetails

from app.agents.external.profile import AgentProfile, AgentsFile
from app.core.toml_document import Complaint, TomlDocument, place_of

BUILT_IN = Path(__file__).with_name("built_in.toml")
"""The profiles that come with PhaseRunner."""


@lru_cache(maxsize=1)
def built_in_profiles() -> Mapping[str, AgentProfile]:
    """Return the profiles that come with PhaseRunner."""
    return MappingProxyType(parse_profiles(BUILT_IN.read_text(encoding="utf-8"), BUILT_IN.name))


def load_profiles(path: Path | None) -> Mapping[str, AgentProfile]:
    """Return the built-in profiles and those of the operator's file, which may replace built-in ones.

    Raises:
        InvalidInputError: the file cannot be read, is not TOML or contains invalid values. The message names
            line and key.
    """
    if path is None:
        return built_in_profiles()
    return MappingProxyType({**built_in_profiles(), **_DOCUMENT.load(path).agents})


def parse_profiles(text: str, name: str) -> dict[str, AgentProfile]:
    """Read profiles from TOML. Errors call the document `name`.

    Raises:
        InvalidInputError: as in `load_profiles`.
    """
    return _DOCUMENT.parse(text, name).agents


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a file of profiles."""
    return AgentsFile.model_json_schema()


def _complaint(error: ErrorDetails) -> Complaint:
    return Complaint(place_of(error), _message(error))


def _message(error: ErrorDetails) -> str:
    match error["type"]:
        case "extra_forbidden":
            known = AgentsFile.model_fields if len(error["loc"]) == 1 else AgentProfile.model_fields
            near = get_close_matches(str(error["loc"][-1]), list(known), 1)
            return f"is not known here{f'; did you mean {near[0]}?' if near else ''}"
        case "string_pattern_mismatch":
            return "must be npm:NAME or pypi:NAME"
        case _:
            message = error["msg"]
            own = message.removeprefix("Value error, ")
            return own if own != message else message[:1].lower() + message[1:]


_DOCUMENT = TomlDocument(AgentsFile, "AGENTS_FILE", _complaint)
