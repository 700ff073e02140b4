"""The interpreter that runs this program."""

import os
import sys
from pathlib import Path


def own_python() -> Path:
    """Return the path of this program's interpreter, by which a sandbox can start it.

    It has no `..`, as after `../.venv/bin/python`: a sandbox need not have the directories on the way. Links
    are not followed, because an environment is identified by the link to its interpreter.
    """
    return Path(os.path.abspath(sys.executable))
