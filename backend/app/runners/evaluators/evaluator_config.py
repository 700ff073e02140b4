"""What the built-in evaluators are set to: their models, limits, thresholds and tools."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.runners.evaluators.protocol import BLOCKING_THRESHOLD
from app.schemas import defaults
from app.schemas.agents import OutputMode
from app.schemas.evaluation import CheckerName
from app.schemas.modes import CounterTestsMode, InProcessOnly
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits

if TYPE_CHECKING:
    from pydantic_ai.models import Model

DISCOVERY, CODING, VERIFICATION = "discovery", "coding", "verification"
"""The phases of a sprint for which evaluators are registered."""


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
        protected: what becomes of changed tests and settings, where neither run nor project says so.
        base_failures: which tests that fail at base count, where neither run nor project says so.
        counter_tests: whether tests must notice when what they expect is changed.
        in_process_only: what becomes of a pass that only the candidate's own process speaks for.
        turns: bounds how many evaluators ask models at once; None is no bound.
        one_shot: whether the process ends after one evaluation, so that nothing is learnt for later ones.
    """

    lint_timeout: float = 30.0
    test_timeout: float = 120.0
    llm_timeout: float = 60.0
    pass_threshold: float = defaults.PASS_THRESHOLD
    blocking_threshold: float = BLOCKING_THRESHOLD
    model: "Model | str | None" = defaults.MODEL
    fallback_model: "Model | str | None" = None
    output_mode: OutputMode = "auto"
    python: Path | None = None
    type_checker: CheckerName = "mypy"
    interpreters: Interpreters | None = None
    compare_base: bool = True
    sandbox: Sandbox | None = None
    limits: WorkspaceLimits = DEFAULT_LIMITS
    outside: bool = True
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    base_failures: BaseFailures = BaseFailures.GOAL
    counter_tests: CounterTestsMode = CounterTestsMode.GATE
    in_process_only: InProcessOnly = InProcessOnly.NOTE
    turns: asyncio.Semaphore | None = None
    one_shot: bool = False
