"""The test gate: the base's tests in the base's test setting, beside them those that the candidate wrote."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.interpreter import (
    EnvironmentTroubleError,
    environment_trouble,
    interpreter_for,
    with_interpreter,
)
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.source_tree import python_files
from app.runners.evaluators.testing.accounting import Rules, accounted, says_something
from app.runners.evaluators.testing.again import SecondLook, look_again
from app.runners.evaluators.testing.away import Away
from app.runners.evaluators.testing.base import BaseTests
from app.runners.evaluators.testing.base_failures import Goal
from app.runners.evaluators.testing.baseline import baseline_key
from app.runners.evaluators.testing.changed import ChangedTests
from app.runners.evaluators.testing.config import PytestSettings, settings_for
from app.runners.evaluators.testing.counter_tests.asking import counter_report
from app.runners.evaluators.testing.feedback import result_of
from app.runners.evaluators.testing.judged import JudgedRun
from app.runners.evaluators.testing.report import Ending, RunReport
from app.runners.evaluators.testing.run import Harness
from app.runners.evaluators.testing.trees import Layout, lay_out, tree_files, whole_tree
from app.runners.evaluators.tooling import ToolTroubleError, find_base, find_workspace, seconds_here_for
from app.schemas.baseline import Baseline
from app.schemas.modes import CounterTestsMode, InProcessOnly
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.environments.outcome import Ready
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.together import together

# Files that say a project is written in another language, whose tests are another evaluator's business.
_OTHER_LANGUAGES = (
    *("package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts"),
    *("Gemfile", "composer.json", "mix.exs", "Package.swift"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestEvaluator:
    """Passes when the base's tests hold for the candidate's code, and the candidate's own tests hold, too.

    The two are different runs, side by side, and of different worth. The base's tests run in the base's test
    setting (see `pytest_trees`): they must run to their end, all of them, none failed, none newly skipped.
    The tests that the candidate added or changed run in its own tree: they must not fail. Where the base has
    no tests these are all there is; then some must pass, and the result says that only self-written tests
    speak for the code. No tests at all are a failure. Only a project in another language is skipped.

    Every run has its private copy and is confined. A run that breaks is the candidate's fault unless the base
    breaks in the same way: then, or when the machine lacks what the base's own code needs, or when every
    failure is a flake that the base has, too, there is no verdict. The score is passed of total.

    Tests that fail at the base as well count by the policy `base_failures`; the notice lists the rest.
    Where a base's test fails and the candidate's version of it passes, `protected` decides: with *ask* the
    failed result holds the question whether the goal says so.

    Attributes:
        timeout: seconds for one run; where the base must be run too, it has as many again.
        python: interpreter for the tests; it needs pytest 7.4 or newer. None is the one this program runs on.
        interpreters: chooses the interpreter by what the base declares; None is always `python`.
        compare_base: whether the base's tests count; otherwise the candidate's tree is run as it is.
        sandbox: confines the tests.
        limits: on the trees; a larger one gets no verdict.
        outside: whether values are also compared in a process that never loads the candidate's code.
        protected: what becomes of changed tests where the context does not say so.
        base_failures: which tests that fail at base count where the context does not say so.
        counter_tests: whether the base's tests must notice when what they expect is changed.
        narrowed: chooses what is run out of all that could be; None runs all of it.
        in_process_only: what becomes of a pass for which only the process of the candidate's code speaks.
    """

    timeout: float = 120.0
    python: Path | None = None
    interpreters: Interpreters | None = field(default=None, compare=False)
    compare_base: bool = True
    sandbox: Sandbox = field(default_factory=Sandbox, compare=False)
    limits: WorkspaceLimits = DEFAULT_LIMITS
    outside: bool = True
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    base_failures: BaseFailures = BaseFailures.GOAL
    counter_tests: CounterTestsMode = CounterTestsMode.GATE
    narrowed: Callable[[Layout], Layout] | None = field(default=None, compare=False)
    in_process_only: InProcessOnly = InProcessOnly.NOTE
    name: str = "pytest"
    category: EvaluationCategory = EvaluationCategory.FUNCTIONALITY
    version: str = "4"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Run the workspace's tests; `output` and `phase` play no part."""
        workspace = find_workspace(self, context, "test")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base = find_base(context)
            if await asyncio.to_thread(_is_foreign_language, workspace, base):
                return skipped(self, "No Python files to test")
            async with interpreter_for(self.interpreters, self.python, base, workspace) as found:
                harness = Harness(
                    python=found.python,
                    base=base,
                    seconds=seconds_here_for(context, self.timeout),
                    sandbox=self.sandbox,
                    limits=self.limits,
                )
                known = await self._known(context, base, found)
                result = await self._judge(harness, workspace, context, known)
                result = with_interpreter(result, found)
        except EnvironmentTroubleError as error:
            return environment_trouble(self, error)
        except SandboxUnavailableError as error:
            return errored(self, f"The tests were not run: {error}", reason="sandbox_unavailable")
        except (ToolTroubleError, WorkspaceError) as trouble:
            return errored(self, str(trouble), reason="environment")
        return await self._stamped(result)

    async def key_of(self, base: Path, found: Ready) -> str:
        """Return what identifies a baseline of a tree, as this gate would measure it now.

        Raises:
            WorkspaceError: the tree is larger than what is allowed.
            OSError: a file cannot be read.
        """
        state = await self.sandbox.state()
        return await asyncio.to_thread(baseline_key, base, found, (self.version, state.name), self.limits)

    async def _known(self, context: EvaluationContext, base: Path | None, found: Ready) -> Baseline | None:
        """Return the run's baseline if base, environment and rules are the same here."""
        known = context.get("baseline")
        if known is None or base is None or not self.compare_base:
            return None
        try:
            return known if known.key == await self.key_of(base, found) else None
        except OSError:
            return None

    async def _judge(
        self, harness: Harness, workspace: Path, context: EvaluationContext, known: Baseline | None
    ) -> EvaluationResult:
        if harness.base is None:
            tree = await asyncio.to_thread(whole_tree, workspace, self.limits)
            report = await harness.run(tree)
            second = await look_again(harness, tree, report)
            return result_of(self, JudgedRun(own=report, second=second))
        settings = await asyncio.to_thread(settings_for, workspace, harness.base)
        opened = context.get("open_paths", ())
        layout = await asyncio.to_thread(lay_out, harness.base, workspace, settings, opened, self.limits)
        if not self.compare_base:
            whole = await asyncio.to_thread(whole_tree, workspace, self.limits)
            layout = replace(layout, base_run=None, own_run=whole, laid_over=())
        if self.narrowed is not None:
            layout = self.narrowed(layout)
        base = BaseTests(harness, harness.base, layout, settings, known)
        try:
            await base.prepare()
            rules = self._rules(context, harness.base, workspace, layout, settings)
            return await self._judge_runs(harness, layout, base, rules)
        finally:
            await base.close()

    def _rules(
        self,
        context: EvaluationContext,
        base: Path,
        workspace: Path,
        layout: Layout,
        settings: PytestSettings,
    ) -> Rules:
        changed = ChangedTests(
            base=base,
            workspace=workspace,
            laid_over=layout.laid_over,
            patterns=settings.test_files,
            doctests=layout.doctests,
        )
        goal = Goal(
            policy=context.get("base_failures", self.base_failures),
            tests=context.get("goal_tests", ()),
            words=context.get("goal", ""),
        )
        return Rules(context.get("protected_policy", self.protected), goal, changed)

    async def _judge_runs(
        self, harness: Harness, layout: Layout, base: BaseTests, rules: Rules
    ) -> EvaluationResult:
        async with Away.beside(harness, layout, wanted=self.outside) as away:
            of_base, own = await together(
                _run(harness, layout, of_base=True), _run(harness, layout, of_base=False)
            )
            for report in (of_base, own):
                if report is None or (report is of_base and says_something(report)):
                    continue
                trouble = await base.environment_trouble(report, of_base=report is of_base)
                if trouble:
                    return errored(self, trouble, ending=report.ending.value, reason="environment")
            judged = await _compared(of_base, own, layout, base, self_compared=self.compare_base)
            second = await _second_look(harness, layout, judged, base)
            judged = await accounted(harness, replace(judged, second=second), rules, base)
            of_base = judged.of_base
            trouble = await base.environment_trouble(of_base, of_base=True) if of_base else ""
            if trouble:
                return errored(self, trouble, reason="environment")
            if of_base is not None and judged.hangs_on(of_base) and second.excuses(of_base):
                return errored(self, _excuse(second), reason=_reason(second), flaky=list(second.flaky))
            if (judged.all_well or judged.questions) and of_base is not None:
                passed = [each for each in of_base.tests.values() if each.ok]
                outside, counter = await together(
                    away.report(passed, base, of_base.seconds),
                    counter_report(harness, layout.base_run, of_base, self.counter_tests),
                )
                judged = replace(judged, outside=outside, counter=counter, in_process=self.in_process_only)
            return result_of(self, judged)

    async def _stamped(self, result: EvaluationResult) -> EvaluationResult:
        """Say on the result whether the tests were confined."""
        state = await self.sandbox.state()
        note = "" if state.confined else "\nThe tests ran unconfined: no sandbox was used."
        return result.model_copy(
            update={
                "feedback": result.feedback + note,
                "metadata": {**result.metadata, "sandbox": state.name},
                "evaluator_version": self.version,
            }
        )


async def _run(harness: Harness, layout: Layout, *, of_base: bool) -> RunReport | None:
    tree = layout.base_run if of_base else layout.own_run
    return None if tree is None else await harness.run(tree)


async def _compared(
    of_base: RunReport | None,
    own: RunReport | None,
    layout: Layout,
    base: BaseTests,
    *,
    self_compared: bool,
) -> JudgedRun:
    judged = JudgedRun(
        own=own,
        compared=self_compared,
        self_written_only=self_compared and of_base is None,
        laid_over=layout.laid_over,
    )
    if of_base is None:
        return judged
    if of_base.forged and await base.forged_too(of_base):
        of_base = replace(of_base, forged=())
    if of_base.ending is not Ending.COMPLETE:
        return replace(judged, of_base=of_base)
    return replace(
        judged,
        of_base=of_base,
        lost=await base.lost(of_base),
        idle=await base.newly_idle(of_base),
        replaced=base.replaced(of_base),
    )


async def _second_look(harness: Harness, layout: Layout, judged: JudgedRun, base: BaseTests) -> SecondLook:
    found = SecondLook()
    if judged.of_base is not None and layout.base_run is not None:
        found += await look_again(harness, layout.base_run, judged.of_base, base)
    if judged.own is not None and layout.own_run is not None:
        found += await look_again(harness, layout.own_run, judged.own)
    return found


def _excuse(second: SecondLook) -> str:
    flaky = [f"{each} is flaky at base, too: it passes and fails there" for each in second.flaky_at_base]
    lacking = [f"{name} fails at base in the same way: {what}" for name, what in second.environment.items()]
    return "No verdict on the tests. " + "; ".join([*flaky, *lacking])


def _reason(second: SecondLook) -> str:
    return "environment" if second.environment else "flaky_at_base"


def _is_foreign_language(workspace: Path, base: Path | None) -> bool:
    if python_files(workspace) or (base is not None and python_files(base)):
        return False
    return any(Path(each).name in _OTHER_LANGUAGES for each in tree_files(workspace, DEFAULT_LIMITS))
