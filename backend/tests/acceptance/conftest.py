"""One real service for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.server import Service, serving


@pytest.fixture(scope="module")
def service(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir: Path = tmp_path_factory.mktemp("service with a space")
    with serving(module_database_url, data_dir) as running:
        yield running
