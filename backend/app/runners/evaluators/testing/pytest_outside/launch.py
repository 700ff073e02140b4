"""Starts one of the two programs: `python -I launch.py judge|candidate ARGUMENTS…`."""

import importlib
import sys
from pathlib import Path

_NICENESS = 5
"""The tests beside the code take precedence, because all else waits for them."""

if __name__ == "__main__":
    # Only the package itself can be imported by its name, and nothing else beside it.
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here.parent))
    importlib.import_module(f"{here.name}.precedence").give_way(_NICENESS)
    program = importlib.import_module(f"{here.name}.{sys.argv[1]}")
    sys.path.pop(0)
    program.main(sys.argv[2:])
