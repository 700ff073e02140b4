"""What the runs change of Hypothesis."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import Phase, settings

from app.runners.evaluators.testing.pytest_runner.limits import SteadyHypothesis


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before: Any = settings.default
    yield
    settings.register_profile("as before", before)
    settings.load_profile("as before")


@pytest.mark.parametrize(("style", "shrinks"), [("short", True), ("no", False)])
def test_nothing_is_shrunk_for_a_failure_that_is_not_shown(style: str, *, shrinks: bool) -> None:
    settings.register_profile("project", max_examples=7, phases=[Phase.generate, Phase.shrink])
    settings.load_profile("project")
    config: Any = SimpleNamespace(option=SimpleNamespace(tbstyle=style))
    SteadyHypothesis().pytest_configure(config)
    now: Any = settings.default
    assert now.phases == ((Phase.generate, Phase.shrink) if shrinks else (Phase.generate,))
    assert (now.deadline, now.max_examples) == (None, 7)
