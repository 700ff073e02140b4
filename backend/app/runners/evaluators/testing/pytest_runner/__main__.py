"""Starts the test runner: `python -s __main__.py RECORDS SECRET TASK`, two descriptors and a file.

No part of the tree that is run is on the import path, and this program first removes its own directory from
it. So the program registers itself as a package under a private name.
"""

import sys

# Not in a process that a test spawns: that runs this file under another name, with the path of its parent.
if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_PACKAGE = "phaserunner_tests"


def _main() -> None:
    here = Path(__file__).parent
    spec = spec_from_file_location(_PACKAGE, here / "__init__.py", submodule_search_locations=[str(here)])
    if spec is None:
        sys.exit("the test runner is incomplete")
    sys.modules[_PACKAGE] = module_from_spec(spec)
    import_module(f"{_PACKAGE}.runner").start(sys.argv[1:])


if __name__ == "__main__":
    _main()
