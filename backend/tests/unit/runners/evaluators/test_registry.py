"""Which evaluators a phase has."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic_ai.models.test import TestModel as ScriptedModel

from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, EvaluationResult, Evaluator
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.registry import EvaluatorConfig, create_default_registry


@dataclass(frozen=True)
class Fake:
    """An evaluator that only has a name."""

    name: str
    is_deterministic: bool = True
    category: EvaluationCategory = EvaluationCategory.TESTING

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        raise NotImplementedError


def names(evaluators: list[Evaluator]) -> list[str]:
    return [each.name for each in evaluators]


def test_global_evaluators_come_first() -> None:
    registry = EvaluatorRegistry()
    registry.register(Fake("own"), ["coding"])
    registry.register(Fake("everywhere"))
    registry.register(Fake("model", is_deterministic=False), ["coding"], gate=False)
    assert names(registry.get_evaluators("coding")) == ["everywhere", "own", "model"]
    assert names(registry.get_deterministic_evaluators("coding")) == ["everywhere", "own"]
    assert names(registry.get_llm_evaluators("coding")) == ["model"]
    assert names(registry.get_evaluators("discovery")) == ["everywhere"]
    assert registry.gates("coding") == ("everywhere", "own")
    assert registry.is_gate("coding", "own")
    assert not registry.is_gate("coding", "model")
    assert not registry.is_gate("discovery", "own")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(None, None, id="both everywhere"),
        pytest.param(None, ["coding"], id="everywhere and one phase"),
        pytest.param(["coding", "discovery"], ["verification", "coding"], id="one phase in common"),
    ],
)
def test_a_name_is_unique_in_a_phase(first: list[str] | None, second: list[str] | None) -> None:
    registry = EvaluatorRegistry()
    registry.register(Fake("a"), first)
    with pytest.raises(ValueError, match="'a' is already registered"):
        registry.register(Fake("a"), second)


def test_a_name_may_be_used_in_different_phases() -> None:
    registry = EvaluatorRegistry()
    registry.register(Fake("a"), ["coding"], gate=True)
    registry.register(Fake("a"), ["discovery"], gate=False)
    assert registry.is_gate("coding", "a")
    assert not registry.is_gate("discovery", "a")


def test_a_registration_without_phase_or_name_is_refused() -> None:
    registry = EvaluatorRegistry()
    with pytest.raises(ValueError, match="no phase"):
        registry.register(Fake("a"), [])
    with pytest.raises(ValueError, match="needs a name"):
        registry.register(Fake(""))


def test_the_default_registry() -> None:
    registry = create_default_registry()
    assert {
        phase: names(registry.get_evaluators(phase)) for phase in ("discovery", "coding", "verification")
    } == {
        "discovery": ["ruff_lint", "plan_artifact", "llm_code_quality"],
        "coding": ["ruff_lint", "pytest", "type_check", "protected_files", "llm_code_quality"],
        "verification": ["ruff_lint", "pytest", "protected_files", "agent_claim"],
    }
    assert registry.gates("coding") == ("ruff_lint", "pytest", "type_check", "protected_files")
    assert all(isinstance(each, Evaluator) for each in registry.get_evaluators("coding"))


def test_a_model_brings_further_advisers() -> None:
    registry = create_default_registry(EvaluatorConfig(model=ScriptedModel()))
    assert names(registry.get_llm_evaluators("coding")) == [
        "llm_code_quality",
        "completeness",
        "security",
        "performance",
    ]
    assert names(registry.get_llm_evaluators("discovery")) == ["llm_code_quality", "response_quality"]
    assert not registry.is_gate("discovery", "response_quality")
    assert not any(registry.is_gate("coding", each.name) for each in registry.get_llm_evaluators("coding"))


def test_figures_are_handed_on() -> None:
    config = EvaluatorConfig(
        lint_timeout=1, test_timeout=2, llm_timeout=3, type_check_timeout=4, python=Path("/p")
    )
    registry = create_default_registry(config)
    evaluators = registry.get_evaluators("coding")
    timeouts = {each.name: getattr(each, "timeout") for each in evaluators if hasattr(each, "timeout")}  # noqa: B009
    assert timeouts == {"ruff_lint": 1, "pytest": 2, "type_check": 4, "llm_code_quality": 3}


def test_the_registry_describes_itself() -> None:
    described = {each.name: each for each in create_default_registry().describe()}
    assert described["ruff_lint"].phases is None
    assert described["ruff_lint"].gate
    assert described["pytest"].phases == ("coding", "verification")
    assert not described["llm_code_quality"].gate
    assert not described["llm_code_quality"].deterministic
