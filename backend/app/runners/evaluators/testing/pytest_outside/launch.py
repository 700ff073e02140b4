"""Starts one of the two programs: `python -I launch.py judge|candidate ARGUMENTS…`."""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    # Only the package itself can be imported by its name, and nothing else beside it.
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here.parent))
    program = importlib.import_module(f"{here.name}.{sys.argv[1]}")
    sys.path.pop(0)
    program.main(sys.argv[2:])
