"""What evaluators get of the operator's settings, and how many ask models at once."""

from pathlib import Path
from typing import Any

import pytest

from app.composition.evaluators import evaluators_at_once, project_rules
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


@pytest.mark.parametrize(
    ("url", "model", "at_once", "bound"),
    [
        pytest.param(None, "openai-chat:qwen", None, None, id="a provider"),
        pytest.param("http://127.0.0.1:11434/v1", "openai-chat:qwen", None, 1, id="this machine"),
        pytest.param("http://localhost:8080/v1", "openai:qwen", None, 1, id="by name"),
        pytest.param("http://[::1]/v1", "openai-chat:qwen", None, 1, id="by IPv6"),
        pytest.param("http://10.0.0.5/v1", "openai-chat:qwen", None, None, id="another machine"),
        pytest.param("http://127.0.0.1/v1", "anthropic:claude", None, None, id="another provider judges"),
        pytest.param("http://127.0.0.1/v1", "openai-chat:qwen", 4, 4, id="set"),
    ],
)
def test_a_server_on_this_machine_is_asked_one_thing_at_a_time(
    url: str | None, model: str, at_once: int | None, bound: int | None
) -> None:
    given: dict[str, Any] = {"OPENAI_BASE_URL": url, "EVALUATOR_MODEL": model}
    settings = Settings.model_validate({**given, "EVALUATOR_LLM_AT_ONCE": at_once})
    assert evaluators_at_once(settings) == bound
