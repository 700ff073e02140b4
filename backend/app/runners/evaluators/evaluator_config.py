"""The configuration of the built-in evaluators: models, limits, thresholds and tools."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.runners.evaluators.protocol import BLOCKING_THRESHOLD
from app.schemas import defaults
from app.schemas.agents import OutputMode
from app.schemas.evaluation import CheckerName
from app.schemas.modes import CounterTestsMode, InProcessOnly, UntestedCode
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.extensions.building import Extensions
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits

if TYPE_CHECKING:
    from pydantic_ai.models import Model

DISCOVERY, CODING, VERIFICATION = "discovery", "coding", "verification"
"""The phases of a sprint for which evaluators are registered."""


@dataclass(frozen=True, slots=True)
class EvaluatorConfig:
    """The configuration of the built-in evaluators. Seconds are wall clock, thresholds are in [0, 1].

    Attributes:
        lint_timeout: for ruff.
        type_check_timeout: for one run of the type checker.
        test_timeout: for one test, and for all waiting of tests that do not pass.
        test_processes: see `PytestGateSettings.processes`.
        llm_timeout: for one evaluation by a model.
        pass_threshold: least score with which a model's evaluation passes.
        blocking_threshold: a criterion below it blocks.
        model: name of a model (`provider:model`), or the model object. The evaluators for completeness,
            security, performance and response quality are registered only with a model object. With None no
            model judges.
        fallback_model: asked if `model` is unavailable.
        output_mode: how the structure of the model's answer is enforced.
        python: interpreter that runs the workspace's tests and has the packages for the type checker;
            None is the one that runs this program.
        type_checker: the tool that checks types; all but mypy must be installed beside this program.
        interpreters: chooses that interpreter from the base's declarations; None always uses `python`.
        extensions: builds the compiled modules of projects for the tests; None builds none.
        compare_base: whether tests are compared with those of the base tree.
        sandbox: confines programs of a workspace; None is a sandbox with the usual settings.
        limits: limits on the trees with tests to run.
        outside: whether tests are also run in another process than the code that they test.
        protected: what happens to changed tests and settings, if neither run nor project says so.
        base_failures: which tests that fail at the base count, if neither run nor project says so.
        counter_tests: whether tests must fail if their expected values are changed.
        in_process_only: what happens to a pass for which only the candidate's own process is evidence.
        untested_code: what happens to new statements that ran in no test, if the project does not say so.
        turns: limits how many evaluators ask models at once; None means no limit.
        one_shot: True if the process ends after one evaluation, so that it learns nothing for later ones.
    """

    lint_timeout: float = 30.0
    type_check_timeout: float = 120.0
    test_timeout: float = 120.0
    test_processes: int | None = None
    llm_timeout: float = 60.0
    pass_threshold: float = defaults.PASS_THRESHOLD
    blocking_threshold: float = BLOCKING_THRESHOLD
    model: "Model | str | None" = defaults.MODEL
    fallback_model: "Model | str | None" = None
    output_mode: OutputMode = "auto"
    python: Path | None = None
    type_checker: CheckerName = "mypy"
    interpreters: Interpreters | None = None
    extensions: Extensions | None = None
    compare_base: bool = True
    sandbox: Sandbox | None = None
    limits: WorkspaceLimits = DEFAULT_LIMITS
    outside: bool = True
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    base_failures: BaseFailures = BaseFailures.GOAL
    counter_tests: CounterTestsMode = CounterTestsMode.GATE
    in_process_only: InProcessOnly = InProcessOnly.NOTE
    untested_code: UntestedCode = UntestedCode.NOTE
    turns: asyncio.Semaphore | None = None
    one_shot: bool = False
