"""Reads the option that a command in a comment may have."""

import re
from dataclasses import dataclass

from app.core.errors import InvalidInputError
from app.schemas.held_out import MAX_SHARE, HeldOutInput

SHARE_OPTION = "--held-out-share"

# Telephones turn two hyphens into a dash.
_OPTION = re.compile(r"(?:--|[\u2013\u2014])held-out-share(?:=|[ \t]+|\b)(\S*)\s*")
_NUMBER = re.compile(r"\d*\.?\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command `run`.

    Attributes:
        text: the words for the agent.
        held_out: what to hide; None for the default.
    """

    text: str
    held_out: HeldOutInput | None = None


def read_run_command(text: str) -> RunCommand:
    """Read the text after `run`, which may begin with `--held-out-share NUMBER`.

    Raises:
        InvalidInputError: the value is not a share.
    """
    found = _OPTION.match(text)
    if found is None:
        return RunCommand(text)
    value = found[1]
    if not _NUMBER.fullmatch(value) or not 0 <= float(value) <= MAX_SHARE:
        told = f"{SHARE_OPTION}: needs a number from 0 to {MAX_SHARE}, such as 0.3, instead of {value[:40]!r}"
        raise InvalidInputError(told, field="held_out.share")
    return RunCommand(text[found.end() :], HeldOutInput(share=float(value)))
