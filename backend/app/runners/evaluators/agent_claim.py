"""The gate on the agent's claim: verification passes only if the agent itself reports success."""

import re
from dataclasses import dataclass

from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, EvaluationResult

SUCCESS, FAILURE = "VERIFICATION_SUCCESS", "VERIFICATION_FAILURE"

_SUCCESS_LINE = re.compile(rf"^.*(?<!\w){SUCCESS}(?!\w).*$", re.MULTILINE)
_FAILURE = re.compile(rf"(?<!\w){FAILURE}(?!\w)")
# A denial in the same clause: "I cannot report SUCCESS", but not "no failures: SUCCESS".
_DENIAL = re.compile(r"\b(?:not|no|never|cannot|without|unable|unless|until)\b|n['\u2019]t\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.;:,!()\-\u2013\u2014]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentClaimEvaluator:
    """Passes if the final message claims success and nothing in it contradicts that.

    It fails with both words, with neither of them, or with a sentence that denies the claim ("not
    VERIFICATION_SUCCESS"): an unsure agent has not verified. The claim alone proves nothing; other gates
    check the work.
    """

    name: str = "agent_claim"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    version: str = "1"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Read the agent's final message."""
        objection = _objection(output)
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=not objection,
            score=0.0 if objection else 1.0,
            feedback=objection or f"The agent reports {SUCCESS}",
            suggestions=[f"Run the tests, fix what fails, and end with {SUCCESS} on a separate line"]
            if objection
            else [],
        )


def _objection(output: str) -> str:
    claims = [match.group() for match in _SUCCESS_LINE.finditer(output)]
    denied = _FAILURE.search(output) is not None
    if claims and denied:
        return f"The agent's message is ambiguous: it contains both {SUCCESS} and {FAILURE}"
    if denied:
        return f"The agent reports {FAILURE}"
    if not claims:
        return f"The agent's message does not contain {SUCCESS}"
    if all(_DENIAL.search(_CLAUSE_END.split(line.partition(SUCCESS)[0])[-1]) for line in claims):
        return f"The agent's message is ambiguous: it denies {SUCCESS}"
    return ""
