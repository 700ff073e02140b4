"""Shares the tests out among processes: by file, and those of the browser as one."""

import pytest
from typing_extensions import override
from xdist.scheduler import LoadFileScheduling

TOGETHER = ("backend/tests/browser",)
"""Folders whose tests share what takes long to start: each process that has some of them starts it anew."""


def unit_of(nodeid: str) -> str:
    """Return the folder or the file that a test is given to a process with."""
    file = nodeid.split("::", 1)[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


class FilesAndFolders(LoadFileScheduling):
    """Gives out files, and some folders as a whole, those with the most tests first."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def scheduler_for(config: pytest.Config) -> FilesAndFolders | None:
    """Return the scheduler for `--dist loadfile`; None leaves the other ways to pytest-xdist."""
    return FilesAndFolders(config) if config.getoption("dist") == "loadfile" else None
