"""A program that was started by a path with `..` names its interpreter without it."""

import os
import subprocess
import sys
from pathlib import Path

from app.core.own_python import own_python

_BACKEND = Path(__file__).parents[3]


def test_a_path_with_dots_is_named_without_them() -> None:
    python = Path(sys.executable)
    dotted = os.path.join(python.parent, "..", python.parent.name, python.name)
    code = "from app.core.own_python import own_python; print(own_python())"
    done = subprocess.run([dotted, "-c", code], cwd=_BACKEND, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str(own_python())
    assert ".." not in own_python().parts
