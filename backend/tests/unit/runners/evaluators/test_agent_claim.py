"""Verification needs the agent's own word, without ifs and buts."""

import pytest

from app.runners.evaluators.agent_claim import AgentClaimEvaluator

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        pytest.param("All tests pass.\nVERIFICATION_SUCCESS", True, id="last line"),
        pytest.param("**VERIFICATION_SUCCESS**\n\n12 tests passed.", True, id="first line, emphasised"),
        pytest.param("12 tests, no failures: VERIFICATION_SUCCESS", True, id="after a colon"),
        pytest.param(
            "This is not VERIFICATION_SUCCESS yet.\nNow it is.\nVERIFICATION_SUCCESS", True, id="at last"
        ),
        pytest.param("VERIFICATION_FAILURE", False, id="failure"),
        pytest.param("", False, id="nothing"),
        pytest.param("everything is fine", False, id="no word"),
        pytest.param("VERIFICATION_SUCCESS or VERIFICATION_FAILURE", False, id="both"),
        pytest.param("VERIFICATION_SUCCESS\n...\nVERIFICATION_FAILURE", False, id="changed its mind"),
        pytest.param("I cannot report VERIFICATION_SUCCESS", False, id="denied"),
        pytest.param("verification_success", False, id="other case"),
        pytest.param("NOT_VERIFICATION_SUCCESS", False, id="part of a word"),
        pytest.param("VERIFICATION_SUCCESSFUL", False, id="a longer word"),
    ],
)
async def test_claims(output: str, passed: bool) -> None:
    result = await AgentClaimEvaluator().evaluate("verification", output, {})
    assert result.passed is passed
    assert bool(result.suggestions) is not passed
