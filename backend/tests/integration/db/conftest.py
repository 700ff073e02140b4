"""Directories for embedded servers."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.db.embedded_support import wait_until_stopped
from tests.postgres import fast_place


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data directory with a space in its path, which an unprivileged account can reach."""
    top = Path(tempfile.mkdtemp(prefix="phaserunner test ", dir=fast_place()))
    os.chmod(top, 0o755)
    yield top / "data dir"
    for cluster in top.glob("**/server.lock"):
        wait_until_stopped(cluster.parent)
    shutil.rmtree(top)
