"""The settings of the test gate, for the gate and for what carries it out."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.runners.evaluators.protocol import EvaluationCategory
from app.schemas.modes import CounterTestsMode, InProcessOnly, UntestedCode
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.extensions.building import Extensions
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.environments.outcome import Ready
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits

if TYPE_CHECKING:
    from app.runners.evaluators.testing.layout.trees import Layout


_WHILE_WORKING = 5
"""A run whose tests work may take this many times as long as one whose tests only wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestGateSettings:
    """How the test gate runs tests, and what it makes of their results.

    Attributes:
        timeout: seconds for one test, and for all waiting of tests that do not pass; see `longest`. If the
            base must be run, too, that run gets as many again.
        python: interpreter for the tests, with pytest 7.4 or newer. None is the one that runs this program.
        interpreters: chooses the interpreter from the base's declarations; None always uses `python`.
        extensions: builds the compiled modules of projects; None builds none.
        compare_base: whether the base's tests count; otherwise the candidate's tree is run unchanged.
        sandbox: confines the tests.
        limits: limits on the trees; a larger one gets no verdict.
        outside: whether values are also compared in a process that never loads the candidate's code.
        protected: what happens to changed tests, unless the context says so.
        base_failures: which tests that fail at the base count, unless the context says so.
        counter_tests: whether the base's tests must fail if their expected values are changed.
        narrowed: selects the files and tests to run; None runs all.
        asks_about_dependencies: whether a person is asked about new dependencies that the tests need. A
            second gate of the same candidate leaves that to the first.
        processes: among how many processes tests are shared if the project's own commands run them in
            parallel. None means one for each core, up to four.
        in_process_only: what happens to a pass for which only the process of the candidate's code is
            evidence.
        untested_code: what happens to new statements that ran in no test, where the interpreter tells.
    """

    timeout: float = 120.0
    python: Path | None = None
    interpreters: Interpreters | None = field(default=None, compare=False)
    extensions: Extensions | None = field(default=None, compare=False)
    compare_base: bool = True
    sandbox: Sandbox = field(default_factory=Sandbox, compare=False)
    limits: WorkspaceLimits = DEFAULT_LIMITS
    outside: bool = True
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    base_failures: BaseFailures = BaseFailures.GOAL
    counter_tests: CounterTestsMode = CounterTestsMode.GATE
    narrowed: "Callable[[Layout], Layout] | None" = field(default=None, compare=False)
    asks_about_dependencies: bool = True
    in_process_only: InProcessOnly = InProcessOnly.NOTE
    untested_code: UntestedCode = UntestedCode.NOTE
    processes: int | None = None
    name: str = "pytest"
    category: EvaluationCategory = EvaluationCategory.FUNCTIONALITY
    version: str = "5"
    is_deterministic: bool = True

    @property
    def longest(self) -> float:
        """Return how many seconds one run may take, unless the context names a limit.

        A test that hangs is soon found by its silence, so a large suite gets more time than one test.
        """
        return self.timeout * _WHILE_WORKING

    async def key_of(self, base: Path, found: Ready) -> str:
        """Return the key of a tree's baseline, as this gate would measure it now.

        Raises:
            WorkspaceError: the tree is larger than the limits allow.
            OSError: a file cannot be read.
        """
        from app.runners.evaluators.testing.at_base.baseline import baseline_key  # noqa: PLC0415 - only with a baseline
        from app.runners.evaluators.testing.running.sharding import sharding_at  # noqa: PLC0415 - only with a baseline

        state = await self.sandbox.state()
        is_built = await asyncio.to_thread(found.built.has, base)
        sharding = await asyncio.to_thread(sharding_at, base, self.processes)
        shared = [f"{sharding.processes} processes"] if sharding else []
        rules = (self.version, state.name, *(["built"] if is_built else []), *shared)
        return await asyncio.to_thread(baseline_key, base, found, rules, self.limits)
