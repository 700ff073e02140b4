"""A checker judges by the base's settings, and asks if the candidate's own allow what it finds."""

from collections.abc import Mapping

import pytest

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.project_file import LinesReport
from app.schemas.questions import ProtectedPolicy
from tests.patience import PATIENCE
from tests.unit.runners.evaluators.conftest import Context

pytestmark = pytest.mark.anyio

PASSED, FAILED = EvaluationStatus.PASSED, EvaluationStatus.FAILED
TODOS = LinesReport(kind="lines", pattern=r"^(?P<file>[^:]+):(?P<line>\d+):(?P<message>.+)$")
BASE = {"a.txt": "x\n", ".flake8": "strict\n"}
TODO = {"a.txt": "x\nTODO\n"}
LAX = {".flake8": "lax\n"}
CHECKER = "grep -q lax .flake8 2>/dev/null || grep -Hn TODO *.txt; true"


@pytest.mark.parametrize(
    ("base", "files", "policy", "status", "asked"),
    [
        pytest.param(BASE, {**TODO, **LAX}, ProtectedPolicy.ASK, FAILED, [".flake8"], id="changed settings"),
        pytest.param(
            {"a.txt": ""}, {**TODO, **LAX}, ProtectedPolicy.ASK, FAILED, [".flake8"], id="added settings"
        ),
        pytest.param(BASE, {**TODO, **LAX}, ProtectedPolicy.FAIL, FAILED, [], id="the policy is to fail"),
        pytest.param(BASE, {**TODO, **LAX}, ProtectedPolicy.NOTE, PASSED, [], id="the policy is to note"),
        pytest.param(BASE, TODO, ProtectedPolicy.ASK, FAILED, [], id="the same settings"),
        pytest.param(
            BASE, {**TODO, ".flake8": "x"}, ProtectedPolicy.ASK, FAILED, [], id="settings that do not help"
        ),
        pytest.param(BASE, LAX, ProtectedPolicy.ASK, PASSED, [], id="nothing to report"),
    ],
)
async def test_settings_that_allow_a_finding_are_asked_about(
    context: Context,
    base: Mapping[str, str],
    files: Mapping[str, str],
    policy: ProtectedPolicy,
    status: EvaluationStatus,
    asked: list[str],
) -> None:
    checker = CommandEvaluator(
        name="todos", command=CHECKER, report=TODOS, timeout=PATIENCE, protected=policy
    )
    result = await checker.evaluate("coding", "", context({**base, **files}, base))
    assert (result.status, [each.id for each in result.questions]) == (status, asked)
