"""Installed agents that ask models and change nothing are ended; those that change files are not."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import app.agents.external.at_work as work_module
import app.agents.external.watching as watching
from app.agents.port import AgentFailure, AgentLimits, AgentUsage, FailureKind
from app.agents.stuck import StuckLimits
from tests.agent_fakes import Listener
from tests.patience import PATIENCE
from tests.unit.agents.external.support import Endpoint, FakeGateway, agent_of, command_profile, task_of

pytestmark = pytest.mark.anyio

UNCHANGED_SECONDS = 0.2


@dataclass
class Asking(Endpoint):
    """An endpoint that sees further requests whenever it is looked at.

    Attributes:
        more: how many.
        changes: a file that changes with each look.
    """

    more: int = 1
    changes: Path | None = None
    seen: int = 0

    def usage(self) -> AgentUsage:
        """Count."""
        self.seen += self.more
        if self.changes is not None:
            self.changes.write_text("x" * self.seen)
        return AgentUsage(requests=self.seen)


@pytest.mark.parametrize(
    ("more", "is_changed", "seconds", "said"),
    [
        pytest.param(
            1, False, PATIENCE, "it changed no file for 0.2 s and made ", id="asks, changes nothing"
        ),
        pytest.param(0, False, 1.5, "longer than the limit of 1.5 s", id="asks nothing"),
        pytest.param(1, True, 1.5, "longer than the limit of 1.5 s", id="asks and changes files"),
    ],
)
async def test_an_agent_is_stuck_that_asks_and_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int, is_changed: bool, seconds: float, said: str
) -> None:
    monkeypatch.setattr(work_module, "TERM_SECONDS", 0.1)
    monkeypatch.setattr(watching, "_WATCH_SECONDS", 0.05)
    endpoint = Asking(more=more, changes=tmp_path / "a.py" if is_changed else None)
    limits = AgentLimits(seconds=seconds, stuck=StuckLimits(None, UNCHANGED_SECONDS))
    task = replace(task_of(tmp_path, "deaf"), limits=limits)
    outcome = await agent_of(command_profile(), FakeGateway(endpoint)).run(task, Listener())
    assert isinstance(outcome, AgentFailure), outcome
    assert outcome.kind is FailureKind.LIMIT
    assert said in outcome.message
