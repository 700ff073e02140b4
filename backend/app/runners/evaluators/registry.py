"""Which evaluators judge which phase, and whether they decide."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic_ai.models import Model

from app.runners.evaluators.agent_claim import AgentClaimEvaluator
from app.runners.evaluators.deterministic import PytestEvaluator, RuffLintEvaluator, TypeCheckEvaluator
from app.runners.evaluators.llm_evaluator import (
    CompletenessEvaluator,
    LLMCodeQualityEvaluator,
    ModelEvaluator,
    PerformanceEvaluator,
    SecurityEvaluator,
)
from app.runners.evaluators.plan_artifact import PlanArtifactEvaluator
from app.runners.evaluators.protection.protected_files import ProtectedFilesEvaluator
from app.runners.evaluators.protocol import BLOCKING_THRESHOLD, EvaluationCategory, Evaluator
from app.runners.evaluators.response_evaluator import EvaluatorAgent
from app.runners.evaluators.response_quality import ResponseQualityEvaluator
from app.schemas.agents import OutputMode
from app.schemas.evaluation import CheckerName
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.sandbox import Sandbox

MODEL_EVALUATORS = frozenset(
    {"llm_code_quality", "completeness", "security", "performance", "response_quality"}
)
"""Built-in evaluators that are only there when a model is set up."""

BUILT_IN = "built-in"

DISCOVERY, CODING, VERIFICATION = "discovery", "coding", "verification"


@dataclass(frozen=True, slots=True)
class EvaluatorConfig:
    """The figures of the built-in evaluators. Seconds are wall clock, thresholds are in [0, 1].

    Attributes:
        lint_timeout: for ruff, and for the type checker.
        test_timeout: for one run of the tests.
        llm_timeout: for one evaluation by a model.
        pass_threshold: score from which a model's evaluation passes.
        blocking_threshold: a criterion below it blocks.
        model: name of a model (`provider:model`), or the model itself. Only with the model itself are the
            evaluators for completeness, security, performance and response quality registered; with None no
            model judges.
        fallback_model: asked when `model` is out.
        output_mode: how the model is made to answer in a structure.
        python: interpreter that runs the workspace's tests and whose packages the type checker sees;
            None is the one this program runs on.
        type_checker: which tool checks types; all but mypy must be installed beside this program.
        interpreters: chooses that interpreter by what the base declares; None is always `python`.
        compare_base: whether the tests are held against those of the base tree.
        sandbox: confines what belongs to a workspace; None is one with the usual settings.
        limits: on the trees whose tests are run.
        outside: whether tests are also run away from the process of the code that they test.
    """

    lint_timeout: float = 30.0
    test_timeout: float = 120.0
    llm_timeout: float = 60.0
    pass_threshold: float = 0.7
    blocking_threshold: float = BLOCKING_THRESHOLD
    model: Model | str | None = "anthropic:claude-sonnet-4-20250514"
    fallback_model: Model | str | None = None
    output_mode: OutputMode = "auto"
    python: Path | None = None
    type_checker: CheckerName = "mypy"
    interpreters: Interpreters | None = None
    compare_base: bool = True
    sandbox: Sandbox | None = None
    limits: WorkspaceLimits = DEFAULT_LIMITS
    outside: bool = True


@dataclass(frozen=True, slots=True)
class Registration:
    """An evaluator and where it is used; `phases` None means everywhere. Only gates decide.

    `source` says where it comes from: `built-in`, a package, or the project's file.
    """

    evaluator: Evaluator
    phases: tuple[str, ...] | None
    gate: bool
    source: str = BUILT_IN

    def covers(self, phase: str) -> bool:
        """True when the evaluator judges this phase."""
        return self.phases is None or phase in self.phases


@dataclass(frozen=True, slots=True)
class EvaluatorDescription:
    """What users are told about a registered evaluator; `phases` None means every phase."""

    name: str
    category: EvaluationCategory
    deterministic: bool
    gate: bool
    phases: tuple[str, ...] | None
    version: str
    source: str = BUILT_IN


class EvaluatorRegistry:
    """The evaluators of each phase, in the order of registration.

    Args:
        left_out: names of evaluators that are known and not used here; see `without`.
    """

    def __init__(self, *, left_out: Collection[str] = ()) -> None:
        self._registrations: list[Registration] = []
        self.left_out = frozenset(left_out)

    def register(
        self, evaluator: Evaluator, phases: Sequence[str] | None = None, *, gate: bool = True
    ) -> None:
        """Add an evaluator to some phases, or with None to every phase.

        Raises:
            ValueError: its name is empty, `phases` is empty, or one of these phases already has the name.
        """
        if not evaluator.name:
            raise ValueError("an evaluator needs a name")
        if phases is not None and not phases:
            raise ValueError(
                f"evaluator {evaluator.name!r} is registered for no phase; None means every phase"
            )
        self.add(Registration(evaluator, None if phases is None else tuple(phases), gate))

    def add(self, added: Registration) -> None:
        """Add a registration.

        Raises:
            ValueError: one of its phases already has the name.
        """
        for present in self._registrations:
            if present.evaluator.name == added.evaluator.name and _share_a_phase(present, added):
                raise ValueError(
                    f"evaluator {added.evaluator.name!r} is already registered for one of these phases"
                )
        self._registrations.append(added)

    def without(self, names: Collection[str]) -> "EvaluatorRegistry":
        """Give a registry of the same evaluators but these, which it still knows by name."""
        rest = EvaluatorRegistry(left_out=self.left_out | (self.names() & set(names)))
        rest._registrations = [each for each in self._registrations if each.evaluator.name not in names]
        return rest

    def only(self, names: Collection[str]) -> "EvaluatorRegistry":
        """Give a registry of these evaluators alone, each of them a gate."""
        chosen = EvaluatorRegistry()
        chosen._registrations = [
            replace(each, gate=True) for each in self._registrations if each.evaluator.name in names
        ]
        return chosen

    def names(self) -> frozenset[str]:
        """Names of all evaluators."""
        return frozenset(each.evaluator.name for each in self._registrations)

    def all_registrations(self) -> tuple[Registration, ...]:
        """Every registration, in the order in which they were made."""
        return tuple(self._registrations)

    def registrations(self, phase: str) -> list[Registration]:
        """Registrations that cover a phase: those of every phase first, then its own."""
        covering = [each for each in self._registrations if each.covers(phase)]
        return sorted(covering, key=lambda each: each.phases is not None)

    def get_evaluators(self, phase: str) -> list[Evaluator]:
        """Evaluators of a phase, in the order of `registrations`."""
        return [each.evaluator for each in self.registrations(phase)]

    def get_deterministic_evaluators(self, phase: str) -> list[Evaluator]:
        """Those that are tools."""
        return [each for each in self.get_evaluators(phase) if each.is_deterministic]

    def get_llm_evaluators(self, phase: str) -> list[Evaluator]:
        """Those that ask a model."""
        return [each for each in self.get_evaluators(phase) if not each.is_deterministic]

    def gates(self, phase: str) -> tuple[str, ...]:
        """Names of the evaluators that decide about a phase."""
        return tuple(each.evaluator.name for each in self.registrations(phase) if each.gate)

    def is_gate(self, phase: str, name: str) -> bool:
        """True when this evaluator decides about this phase; False for a name the phase does not have."""
        return name in self.gates(phase)

    def describe(self) -> list[EvaluatorDescription]:
        """Every registration, in the order in which they were made."""
        return [
            EvaluatorDescription(
                name=each.evaluator.name,
                category=each.evaluator.category,
                deterministic=each.evaluator.is_deterministic,
                gate=each.gate,
                phases=each.phases,
                version=str(getattr(each.evaluator, "version", "1")),
                source=each.source,
            )
            for each in self._registrations
        ]


def create_default_registry(config: EvaluatorConfig | None = None) -> EvaluatorRegistry:
    """Give the built-in evaluators, registered for the phases of a sprint."""
    config = config or EvaluatorConfig()
    registry = EvaluatorRegistry()
    registry.register(RuffLintEvaluator(timeout=config.lint_timeout))
    registry.register(
        PytestEvaluator(
            timeout=config.test_timeout,
            python=config.python,
            interpreters=config.interpreters,
            compare_base=config.compare_base,
            sandbox=config.sandbox or Sandbox(),
            limits=config.limits,
            outside=config.outside,
        ),
        [CODING, VERIFICATION],
    )
    types = TypeCheckEvaluator(
        timeout=config.lint_timeout,
        python=config.python,
        interpreters=config.interpreters,
        checker=config.type_checker,
    )
    registry.register(types, [CODING])
    registry.register(ProtectedFilesEvaluator(), [CODING, VERIFICATION])
    registry.register(PlanArtifactEvaluator(), [DISCOVERY])
    registry.register(AgentClaimEvaluator(), [VERIFICATION])
    if config.model is not None:
        _register_models(registry, config, config.model)
    return registry


def _register_models(registry: EvaluatorRegistry, config: EvaluatorConfig, model: Model | str) -> None:
    evaluators: list[tuple[ModelEvaluator, list[str]]] = [(LLMCodeQualityEvaluator(), [CODING, DISCOVERY])]
    if isinstance(model, Model):
        evaluators += [
            (CompletenessEvaluator(), [CODING, VERIFICATION]),
            (SecurityEvaluator(), [CODING]),
            (PerformanceEvaluator(), [CODING]),
        ]
    for evaluator, phases in evaluators:
        configured = replace(
            evaluator,
            model=model,
            fallback_model=config.fallback_model,
            timeout=config.llm_timeout,
            pass_threshold=config.pass_threshold,
            blocking_threshold=config.blocking_threshold,
            output_mode=config.output_mode,
        )
        registry.register(configured, phases, gate=False)
    if isinstance(model, Model):
        agent = EvaluatorAgent(
            model=model,
            fallback_model=config.fallback_model,
            timeout=config.llm_timeout,
            output_mode=config.output_mode,
            watch_entries=False,
        )
        registry.register(ResponseQualityEvaluator(agent=agent), [DISCOVERY], gate=False)


def _share_a_phase(one: Registration, other: Registration) -> bool:
    if one.phases is None or other.phases is None:
        return True
    return not set(one.phases).isdisjoint(other.phases)
