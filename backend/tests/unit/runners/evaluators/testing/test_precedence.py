"""Lists of tests give way to the tests themselves."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing import pytest_runner

_GIVING_WAY = """
import os, pathlib, sys
sys.path.insert(0, sys.argv[1])
from precedence import give_way
own = os.nice(0)
give_way(int(sys.argv[2]))
print(os.nice(0) - own)
session = pathlib.Path("/proc/self/autogroup")
print(session.read_text().split()[-1] if session.exists() else sys.argv[2])
"""


@pytest.mark.parametrize("niceness", ["0", "5"])
def test_a_process_gives_way_to_those_of_its_own_session_and_of_others(niceness: str) -> None:
    place = Path(str(pytest_runner.__file__)).parent
    done = subprocess.run(
        [sys.executable, "-I", "-c", _GIVING_WAY, place, niceness],
        check=True,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.stdout.split() == [niceness, niceness]
