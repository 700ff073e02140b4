"""Finds the image of a project's development container, in the tree at its base."""

import json
import re
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.tooling import ToolTroubleError

OF_PROJECT = "devcontainer"
"""Value of `CONTAINER_IMAGE` that stands for each project's own image."""

_PLACES = (".devcontainer/devcontainer.json", ".devcontainer.json")
_MAX_BYTES = 1_000_000
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
# A string, a comment, or a comma before a closing bracket. Strings are kept, the rest is removed.
_EXTRAS = re.compile(r'("(?:[^"\\\\]|\\\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def image_for(chosen: str | None, base: Path | None) -> str | None:
    """Return the image in which a project's commands run, or None for the usual system.

    Args:
        chosen: the operator's choice: an image, `devcontainer`, or None.
        base: the tree at the base commit; a candidate cannot choose its image.

    Raises:
        ToolTroubleError: the project's file cannot be read.
    """
    if chosen != OF_PROJECT:
        return chosen
    return None if base is None else _image_of(base)


def _image_of(base: Path) -> str | None:
    for name in _PLACES:
        place = base / name
        if place.is_file() and place.resolve().is_relative_to(base.resolve()):
            return _image_in(name, place)
    return None


def _image_in(name: str, place: Path) -> str | None:
    try:
        with place.open("rb") as file:
            text = file.read(_MAX_BYTES).decode()
        document: Any = json.loads(_without_extras(text))
    except (OSError, ValueError, RecursionError) as error:
        raise ToolTroubleError(f"{name} cannot be read: {error}") from error
    found = cast("dict[str, object]", document).get("image") if isinstance(document, dict) else None
    if found is None:
        return None
    if not isinstance(found, str) or not _IMAGE.fullmatch(found):
        raise ToolTroubleError(f"{name}: image is not the name of an image: {str(found)[:100]!r}")
    return found


def _without_extras(text: str) -> str:
    """Remove comments and trailing commas, which the format allows."""
    without_comments = _EXTRAS.sub(lambda match: match.group(1) or "", text)
    return _EXTRAS.sub(lambda match: match.group(1) or "", without_comments)
