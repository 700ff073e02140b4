"""Notes about a run's base that are stored besides its objects, in its repository and its bundles."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from app.workspaces.files.origin import is_description

BASE_REF = "refs/phaserunner/base"
_DESCRIBED = "refs/phaserunner/described/"
_FILLED = "refs/phaserunner/filled/"
_FILE = "phaserunner-notes.json"
_EARLIER_FILE = "phaserunner-described"
"""The file that older versions wrote, with the description alone."""

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class BaseNotes:
    """Notes about a base.

    Attributes:
        described: its `git describe` text in the original repository; empty if unknown.
        filling: the commit with the files to which the base only refers; empty if there is none.
    """

    described: str = ""
    filling: str = ""

    @property
    def ref(self) -> str:
        """The name of the ref that carries the notes in a bundle."""
        if self.filling:
            return f"{_FILLED}{self.filling}/{self.described}".rstrip("/")
        return f"{_DESCRIBED}{self.described}" if self.described else BASE_REF


def notes_in(ref: str) -> BaseNotes:
    """Read the notes in the name of a bundle's ref. Parts in another form are left out."""
    described, filling = ref.removeprefix(_DESCRIBED) if ref.startswith(_DESCRIBED) else "", ""
    if ref.startswith(_FILLED):
        filling, _, described = ref.removeprefix(_FILLED).partition("/")
    return BaseNotes(
        described if is_description(described) else "", filling if _ID.fullmatch(filling) else ""
    )


def read_notes(git_dir: Path) -> BaseNotes:
    """Read the notes of a repository."""
    try:
        return BaseNotes(**json.loads((git_dir / _FILE).read_text()))
    except OSError:
        pass
    try:
        return BaseNotes(described=(git_dir / _EARLIER_FILE).read_text())
    except OSError:
        return BaseNotes()


def write_notes(git_dir: Path, notes: BaseNotes) -> None:
    """Write the notes of a repository."""
    if notes != BaseNotes():
        (git_dir / _FILE).write_text(json.dumps(asdict(notes)))
