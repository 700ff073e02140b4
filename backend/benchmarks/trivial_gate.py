"""A gate that costs nothing and never holds, so that what remains is the engine's own time."""

from dataclasses import dataclass

from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, EvaluationResult
from app.runners.evaluators.registrations import EvaluatorRegistry


@dataclass(frozen=True, slots=True)
class NeverHolds:
    """Fails each attempt at once, for a new reason: a run that repeats itself would end early."""

    name: str = "never_holds"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Fail; nothing is looked at."""
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=False,
            feedback=f"{phase}: attempt {context.get('attempt')} does not hold",
        )


def trivial_registry() -> EvaluatorRegistry:
    """That gate, for every phase."""
    registry = EvaluatorRegistry()
    registry.register(NeverHolds())
    return registry
