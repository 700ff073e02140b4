"""Fixtures for tests of parts that trace what they do."""

import logfire
import pytest


@pytest.fixture(scope="session", autouse=True)
def _tracing_that_goes_nowhere() -> None:
    logfire.configure(
        send_to_logfire=False, console=False, metrics=False, inspect_arguments=False, distributed_tracing=True
    )
