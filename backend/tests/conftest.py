"""Fixtures for every test."""

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.postgres", "tests.shards"]

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The program runs on asyncio, and so do its tests."""
    return "asyncio"
