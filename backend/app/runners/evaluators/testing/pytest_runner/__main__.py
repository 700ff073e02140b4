"""Starts the test runner: `python -I __main__.py RECORDS SECRET TASK`, two descriptors and a file.

`-I` keeps everything of the tree that is run off the import path, and this program's own directory, too. So
it makes itself a package under a private name.
"""

import sys
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
