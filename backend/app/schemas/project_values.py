"""The types of values in a project's `phaserunner.toml`."""

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from app.schemas.runs import Phase

MAX_SECONDS = 3600.0
_OWN_VARIABLES = frozenset({"PATH", "HOME", "TMPDIR", "PHASERUNNER_BASE"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value:
        raise ValueError("must be a path below the project's root, with / between its parts")
    if not value.isprintable():
        raise ValueError("must not contain control characters")
    return value


def _file_inside(value: str) -> str:
    if not PurePosixPath(_inside(value)).parts:
        raise ValueError("must name a file")
    return value


def argument(value: str) -> str:
    """Check an argument of a program.

    Raises:
        ValueError: it is not valid as an argument.
    """
    if "\0" in value:
        raise ValueError("must not contain a NUL character")
    return value


def variables(value: dict[str, str]) -> dict[str, str]:
    """Check environment variables for a program.

    Raises:
        ValueError: a name is invalid, or the project must not set it.
    """
    for name, text in value.items():
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of an environment variable")
        if name in _OWN_VARIABLES:
            raise ValueError(f"{name} is set by PhaseRunner")
        argument(text)
    return value


Directory = Annotated[str, Field(max_length=1000), AfterValidator(_inside)]
FilePath = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_file_inside)]
Glob = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_file_inside)]
Argument = Annotated[str, AfterValidator(argument)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS)]
Phases = Annotated[list[Annotated[Phase, Field(strict=False)]], Field(min_length=1)]
UnitInterval = Annotated[float, Field(ge=0, le=1)]


class Table(BaseModel):
    """A table of the file; unknown keys and values of other types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
SecretNames = Annotated[list[VariableName], Field(max_length=32)]
"""Names of variables whose values the operator keeps."""
