"""The evaluators that run tools."""

from app.runners.evaluators.pytest_gate import PytestEvaluator
from app.runners.evaluators.ruff_lint import RuffLintEvaluator
from app.runners.evaluators.type_check import TypeCheckEvaluator

__all__ = ["PytestEvaluator", "RuffLintEvaluator", "TypeCheckEvaluator"]
