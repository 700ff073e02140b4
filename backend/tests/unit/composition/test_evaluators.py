"""What evaluators get of the operator's settings."""

from pathlib import Path

import pytest

from app.composition.evaluators import project_rules
from app.core.config import Settings
from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.protocol import EvaluationContext, EvaluationStatus
from app.schemas.project_file import CommandTable
from app.schemas.questions import ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import OneInterpreter

pytestmark = pytest.mark.anyio

CHECK = "test -e done.txt && grep -q 2 tests/expected.txt"


def command(policy: ProtectedPolicy) -> CommandEvaluator:
    rules = project_rules(Settings(EVALUATOR_PROTECTED=policy), Sandbox(), OneInterpreter())
    return rules.command(CommandTable(name="unit", run=CHECK))


@pytest.fixture
def context(tmp_path: Path) -> EvaluationContext:
    """The candidate does the work, and changes a file of the tests that its command reads."""
    for tree, expected in (("base", "1"), ("candidate", "2")):
        (tmp_path / tree / "tests").mkdir(parents=True)
        (tmp_path / tree / "tests" / "expected.txt").write_text(expected)
    (tmp_path / "candidate" / "done.txt").write_text("")
    return {"workspace_ref": str(tmp_path / "candidate"), "base_ref": str(tmp_path / "base")}


@pytest.mark.parametrize(
    ("policy", "status", "asks"),
    [
        (ProtectedPolicy.FAIL, EvaluationStatus.FAILED, False),
        (ProtectedPolicy.ASK, EvaluationStatus.FAILED, True),
        (ProtectedPolicy.NOTE, EvaluationStatus.PASSED, False),
    ],
)
async def test_a_command_follows_the_services_policy(
    context: EvaluationContext, policy: ProtectedPolicy, status: EvaluationStatus, asks: bool
) -> None:
    result = await command(policy).evaluate("coding", "", context)
    assert result.status is status, result.feedback
    assert bool(result.questions) is asks


async def test_what_a_run_says_goes_before_the_services_policy(context: EvaluationContext) -> None:
    asking: EvaluationContext = {**context, "protected_policy": ProtectedPolicy.ASK}
    result = await command(ProtectedPolicy.NOTE).evaluate("coding", "", asking)
    assert result.questions
