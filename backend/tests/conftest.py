"""Fixtures for every test."""

import pytest

pytest_plugins = ["tests.postgres"]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The program runs on asyncio, and so do its tests."""
    return "asyncio"
