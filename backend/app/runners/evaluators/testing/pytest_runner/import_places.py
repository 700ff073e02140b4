"""Lets Python processes that tests start import the code as if it were installed."""

import os
import sys
from contextlib import suppress
from pathlib import Path

_READS_TREE = "phaserunner-tree.pth"
"""The file with which `environments.finishing` puts the tree on the path of child processes."""


def let_children_import(places: "list[str]", tree: Path) -> None:
    """Let Python processes that tests start import the code as if it were installed."""
    # Some tests give their children no variables.
    with suppress(OSError):
        (tree.parent / "import-places").write_text(os.pathsep.join(places), errors="surrogateescape")
    # A file in the environment reads this, so the code is found under `-I`, too. Some programs behave
    # differently if there is a `PYTHONPATH`.
    os.environ["PHASERUNNER_TREE"] = os.pathsep.join(places)  # noqa: TID251 - tests and their children read it
    if any(os.path.exists(os.path.join(each, _READS_TREE)) for each in sys.path):
        return
    before = os.environ.get("PYTHONPATH", "")  # noqa: TID251 - handed to children of the tests
    path = [*places, *filter(None, before.split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)  # noqa: TID251 - tests and their children read it
