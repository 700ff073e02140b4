"""Runs tests beside the code and away from it, for tests of that comparison."""

import sys
from pathlib import Path

from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.trees import lay_out
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport
from app.runners.evaluators.testing.pytest_outside.outside_run import Outside
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox

PYTHON = Path(sys.executable)
SANDBOX = Sandbox(SandboxSettings(mode=SandboxMode.PREFERRED))


async def judged(root: Path) -> tuple[list[str], OutsideReport]:
    """Run the tests beside the code, then those that passed away from it."""
    harness = Harness(python=PYTHON, base=root, seconds=120, sandbox=SANDBOX)
    tree = lay_out(root, root, settings_for(root, root)).base_run
    assert tree is not None
    inside = await harness.run(tree)
    passed = [each.id for each in inside.tests.values() if each.ok]
    return passed, await Outside(harness).judge(tree, passed, detailed=True)
