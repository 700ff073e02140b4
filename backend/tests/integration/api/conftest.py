"""One application for the tests of a module."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.integration.api.support import Api, open_api


@pytest.fixture(scope="module")
async def api(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[Api]:
    data_dir: Path = tmp_path_factory.mktemp("data with a space")
    async with open_api(module_database_url, data_dir) as opened:
        yield opened
