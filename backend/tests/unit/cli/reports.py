"""Reports of evaluations, and a judge that gives them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from app.core.errors import PhaseRunnerError
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport

QUESTION = {
    "id": "tests/test_tax.py::test_net",
    "kind": "weaker",
    "text": "May tests/test_tax.py::test_net ask for less?",
    "before": "assert net(119) == 100",
    "after": "assert net(119)",
    "key": "a" * 64,
}


def result(name: str, status: str, **more: Any) -> dict[str, Any]:
    """One evaluator's result."""
    passed = status in ("passed", "skipped")
    shared = {"evaluator_name": name, "category": "testing", "passed": passed, "status": status}
    return shared | {"score": float(passed), "feedback": f"{name} {status}", "duration_ms": 1500} | more


LINT = result(
    "ruff_lint",
    "failed",
    feedback="Found 1 new lint error",
    metadata={
        "findings": [
            {"file": "src/a b.py", "line": 3, "rule": "F401", "message": "`os` imported, not used: 100%"}
        ],
        "advice": [{"file": "src/c.py", "line": 9, "rule": "E501", "message": "Line too long"}],
    },
)
TESTS = result(
    "pytest",
    "failed",
    feedback="2 of 9 tests failed\n- Fix tests/test_tax.py::test_net: src/tax.py:12: assert 99 == 100\n"
    "- Fix tests/test_tax.py::test_far: /usr/lib/python3/json.py:4: ValueError",
    metadata={"failing": ["tests/test_tax.py::test_net", "tests/test_tax.py::test_far"]},
)
PROTECTED = result(
    "protected_files",
    "failed",
    criteria=[
        {"criterion": "tests/conftest.py", "passed": False, "message": "tests/conftest.py was changed"}
    ],
    metadata={"tampered": ["tests/conftest.py"]},
)
ASKS = result("protected_files", "failed", metadata={"questions": [QUESTION]})
ADVISER = result("llm_code_quality", "failed", feedback="Names\nare short", suggestions=["Name it net_price"])


def report(verdict: str, *results: tuple[dict[str, Any], bool], **more: Any) -> EvaluationReport:
    """A report of results, each with whether it decides."""
    document: dict[str, Any] = {
        "phase": "coding",
        "verdict": verdict,
        "score": 0.5,
        "reason": "Failed: ruff_lint, pytest" if verdict == "failed" else f"It {verdict}",
        "base_commit": "b" * 40,
        "evaluations": [{"gate": gate, "result": each} for each, gate in results],
    }
    return EvaluationReport.model_validate(document | more)


FAILED = report("failed", (LINT, True), (TESTS, True), (PROTECTED, True), (ADVISER, False))
PASSED = report("passed", (result("pytest", "passed"), True), (ADVISER, False))
ERRORED = report(
    "errored",
    (result("pytest", "errored", feedback="bwrap cannot be started"), True),
    reason="pytest reached no verdict",
)
ASKED = report("asks", (ASKS, True), questions=[QUESTION])


@dataclass
class FakeJudging:
    """Gives reports in turn, the last one again and again, or raises an error."""

    reports: list[EvaluationReport | PhaseRunnerError]
    requests: list[EvaluateRequest] = field(default_factory=list[EvaluateRequest])

    async def judge(self, request: EvaluateRequest) -> EvaluationReport:
        """Give the next report."""
        self.requests.append(request)
        given = self.reports[min(len(self.requests), len(self.reports)) - 1]
        if isinstance(given, PhaseRunnerError):
            raise given
        return given

    @asynccontextmanager
    async def open(self, settings: object) -> AsyncGenerator["FakeJudging"]:
        """Be what evaluates."""
        yield self
