"""Reads the environment variables that tox gives to a project's tests."""

import re
from pathlib import Path

from app.workspaces.environments.reading import DeclarationError
from app.workspaces.environments.tox_sections import tox_sections

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)")
_ROOT = re.compile(r"\{(?:toxinidir|tox_root)\}")
_SEPARATOR = "{/}"
_OURS = re.compile(
    r"(?:PYTHON|PYTEST|PIP_|UV_|VIRTUALENV|TOX_|COV_|COVERAGE|LD_|DYLD_|LC_)\w*"
    r"|VIRTUAL_ENV|LANG(?:UAGE)?|PATH|HOME|TMP|TEMP|TMPDIR"
)
"""Variables of the interpreter, of installers and of the run itself, whose values are ours."""

_MOST_VARIABLES = 100
_MOST_CHARACTERS = 4000
"""Of one value. The system limits all of them together."""


def variables_of_tox(tree: Path, root: Path) -> dict[str, str]:
    """Return the variables that tox's plain test environment sets, without conditional and composed ones.

    Args:
        tree: the project with tox's configuration. If it cannot be read, there are none.
        root: the directory that stands for tox's `{toxinidir}`.
    """
    try:
        options = tox_sections(tree).get("testenv", {})
    except DeclarationError:
        return {}
    lines = "\n".join((options.get("setenv", ""), options.get("set_env", ""))).splitlines()
    found: dict[str, str] = {}
    for line in lines:
        named = _ASSIGNMENT.fullmatch(line.strip())
        if named is None or _OURS.fullmatch(named[1]):
            continue
        value = _ROOT.sub(lambda _: str(root), named[2]).replace(_SEPARATOR, "/")
        if len(value) <= _MOST_CHARACTERS and not set(value) & set("{}\0"):
            found[named[1]] = value
    return dict(list(found.items())[:_MOST_VARIABLES])
