"""Lets Python processes that tests start import the project, as if it were installed in editable mode.

Every interpreter of an environment runs a copy of this file when it starts. The test runner names the places
in a variable, which its children inherit. A child that is given other variables finds them in a file: the
command of one of its ancestors, the runner, names the directory of the run.
"""

import os
import sys

_VARIABLE = "PHASERUNNER_TREE"
_TASK = "/given/task.json"
_PLACES = "/vault/import-places"


def _places() -> str:
    named = os.environ.get(_VARIABLE)  # noqa: TID251 - this runs in the tests' processes
    if named is not None:
        return named
    try:
        process = os.getppid()
        while process:
            last = _read(f"/proc/{process}/cmdline").rstrip("\0").rpartition("\0")[2]
            if last.endswith(_TASK):
                return _read(last[: -len(_TASK)] + _PLACES)
            process = int(_read(f"/proc/{process}/stat").rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        pass
    return ""


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


# After the standard library, and before a release of the project that another package brought.
_at = next((number for number, place in enumerate(sys.path) if place.endswith("-packages")), len(sys.path))
sys.path[_at:_at] = filter(None, _places().split(os.pathsep))
