"""Fixtures for every test."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.postgres"]

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Any:
    """Keep together what shares something that takes long to start."""
    from tests.scheduling import scheduler_for  # noqa: PLC0415 - without pytest-xdist nobody asks

    return scheduler_for(config)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The program runs on asyncio, and so do its tests."""
    return "asyncio"
