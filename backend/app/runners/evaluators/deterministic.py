"""The evaluators that run tools."""

from app.runners.evaluators.static.ruff_lint import RuffLintEvaluator
from app.runners.evaluators.static.type_check import TypeCheckEvaluator
from app.runners.evaluators.testing.gate import PytestEvaluator

__all__ = ["PytestEvaluator", "RuffLintEvaluator", "TypeCheckEvaluator"]
