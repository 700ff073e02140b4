"""Carries out the test gate: runs the tests and compares them with the base.

It is separate from the gate, which every panel holds, because it imports far more, and only for tests.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, errored
from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.at_base.trouble import trouble_of
from app.runners.evaluators.testing.counter_tests.asking import counter_report
from app.runners.evaluators.testing.early import started_early
from app.runners.evaluators.testing.feedback import result_of
from app.runners.evaluators.testing.gate_settings import PytestGateSettings
from app.runners.evaluators.testing.layout.config import PytestSettings, settings_for
from app.runners.evaluators.testing.layout.trees import Layout, RunTree, lay_out, whole_tree
from app.runners.evaluators.testing.running.asides import without_asides
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.ignored_modules import ignored_modules
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.running.sharding import sharding_at
from app.runners.evaluators.testing.sorting.accounting import SortingRules, accounted, says_something
from app.runners.evaluators.testing.sorting.again import look_again, red_versions, steadied
from app.runners.evaluators.testing.sorting.changed import ChangedTests
from app.runners.evaluators.testing.sorting.company import in_company
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.runners.evaluators.testing.sorting.surroundings import asked_about_children, asked_about_surroundings
from app.runners.evaluators.testing.sorting.trouble_left import trouble_left
from app.runners.evaluators.testing.sorting.unread import red_where_loaded
from app.runners.evaluators.testing.sorting.unstarted import about_unstarted
from app.runners.evaluators.testing.sorting.untested import asked_without_tests
from app.runners.evaluators.testing.source_questions.about_absence import asked_about_absence
from app.runners.evaluators.testing.source_questions.about_equality import asked_about_equal_kinds
from app.runners.evaluators.testing.source_questions.about_looks import asked_about_looks
from app.runners.evaluators.testing.source_questions.about_repeating import asked_about_repeating
from app.runners.evaluators.testing.source_questions.about_silence import asked_about_silence
from app.runners.evaluators.testing.source_questions.about_unrun import asked_about_unrun, watched_files
from app.runners.evaluators.testing.source_questions.asking import (
    SourceQuestions,
    asked_about_source,
)
from app.runners.evaluators.testing.source_questions.new_source import NewSource
from app.runners.evaluators.testing.source_questions.still_skipped import asked_about_skips
from app.runners.evaluators.tooling import find_base, seconds_for, seconds_here_for
from app.runners.evaluators.tree_files import tree_files
from app.schemas.baseline import Baseline
from app.workspaces.environments.outcome import Ready
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.together import together


async def judged(
    gate: PytestGateSettings,
    found: Ready,
    workspace: Path,
    context: EvaluationContext,
) -> EvaluationResult:
    """Run the tests of a workspace with the gate's settings. Return the result.

    Args:
        gate: the gate with its settings.
        found: the interpreter of the workspace.
        workspace: the candidate's tree.
        context: of the evaluation.

    Raises:
        ToolTroubleError, WorkspaceError, SandboxUnavailableError: the tests cannot be run.
    """
    base = find_base(context)
    harness = Harness(
        python=found.python,
        base=base,
        seconds=seconds_here_for(context, gate.longest),
        sandbox=gate.sandbox,
        limits=gate.limits,
        patience=seconds_for(context, gate.timeout),
        built=found.built,
        sharding=None if base is None else await asyncio.to_thread(sharding_at, base, gate.processes),
    )
    known = await _known(gate, context, base, found)
    if harness.base is None:
        tree = await asyncio.to_thread(whole_tree, workspace, gate.limits)
        report = await harness.run(tree)
        second = await look_again(harness, tree, report)
        return result_of(gate, JudgedRun(own=report, second=second))
    settings = await asyncio.to_thread(settings_for, workspace, harness.base)
    opened = context.get("open_paths", ())
    layout = await asyncio.to_thread(lay_out, harness.base, workspace, settings, opened, gate.limits)
    if not gate.compare_base:
        whole = await asyncio.to_thread(whole_tree, workspace, gate.limits)
        layout = replace(layout, base_run=None, own_run=whole, laid_over=())
    if gate.narrowed is not None:
        layout = gate.narrowed(layout)
    base = BaseTests(harness, harness.base, layout, settings, known)
    try:
        await base.prepare()
        rules = _rules(gate, context, harness.base, workspace, layout, settings)
        source = NewSource(harness.base, workspace, layout)
        return await _judge_runs(gate, replace(harness, leaves_out=True), source, base, rules)
    finally:
        await base.close()


def _rules(
    gate: PytestGateSettings,
    context: EvaluationContext,
    base: Path,
    workspace: Path,
    layout: Layout,
    settings: PytestSettings,
) -> SortingRules:
    changed = ChangedTests(
        base=base,
        workspace=workspace,
        laid_over=layout.laid_over,
        patterns=settings.test_files,
        doctests=layout.doctests,
        added=layout.added,
    )
    goal = Goal(
        policy=context.get("base_failures", gate.base_failures),
        tests=context.get("goal_tests", ()),
        words=context.get("goal", ""),
        known=context.get("known_failures", ()),
    )
    return SortingRules(
        context.get("protected_policy", gate.protected), goal, changed, BaseCode(base, layout.base_sources)
    )


async def _judge_runs(
    gate: PytestGateSettings, harness: Harness, source: NewSource, base: BaseTests, rules: SortingRules
) -> EvaluationResult:
    layout = source.layout.watching(await asyncio.to_thread(watched_files, source))
    async with started_early(harness, layout, source, gate, rules.protected) as early:
        of_base, own = await _both_runs(harness, layout, base, rules)
        own = await in_company(harness, layout.own_run, own, of_base)
        harness = replace(harness, leaves_out=False, without=tuple(base.slow.known))
        if prevented := await _prevented(gate, of_base, own, base, rules, early.questions):
            return prevented
        judged = await _compared(of_base, own, layout, base, self_compared=gate.compare_base)
        if any(run.failures for run in judged.runs):
            await early.away.make_room()
        second = await _second_look(harness, layout, judged, base)
        judged = await accounted(harness, replace(judged, second=second), rules, base)
        judged = await _questioned(judged, source, early.questions, rules, base, gate.limits)
        of_base = judged.of_base
        if trouble := await trouble_left(judged, base):
            return errored(gate, trouble.text, reason="environment")
        excused = of_base is not None and judged.hangs_on(of_base) and second.excuses(of_base)
        if excused and not judged.questions:
            return errored(gate, second.excuse, reason=second.reason, flaky=list(second.flaky))
        is_whole = of_base is not None and of_base.ending is PytestEnding.COMPLETE
        if (judged.all_well or judged.questions) and of_base is not None and is_whole:
            passed = [each for each in of_base.tests.values() if each.ok]
            outside, counter = await together(
                early.away.report(passed, base, of_base.seconds),
                counter_report(
                    harness, layout.base_run, of_base, gate.counter_tests, early.tests, rules.goal.names
                ),
            )
            judged = replace(judged, outside=outside, counter=counter, in_process=gate.in_process_only)
            judged = asked_about_children(judged, rules.protected)
            judged = asked_about_silence(judged, rules.protected)
            judged = asked_about_absence(judged, rules.protected)
            judged = await asked_about_repeating(judged, rules.protected, source)
            judged = await asked_about_looks(judged, rules.protected, source)
            judged = await asked_about_equal_kinds(judged, rules.protected, source, base.away)
        judged = await asyncio.to_thread(asked_about_unrun, judged, gate.untested_code, source)
        messages = [each.message for run in judged.runs for each in (*run.errors, *run.failures)]
        ignored = await asyncio.to_thread(ignored_modules, messages, rules.changed.workspace)
        return result_of(gate, replace(judged, ignored=ignored))


async def _prevented(
    gate: PytestGateSettings,
    of_base: RunReport | None,
    own: RunReport | None,
    base: BaseTests,
    rules: SortingRules,
    questions: SourceQuestions,
) -> EvaluationResult | None:
    """Return the result if the environment prevents the runs, else None.

    While the base's tests are evidence, a lack of other tests may be a note or a question.
    """
    if of_base is not None and says_something(of_base):
        return None
    for report in filter(None, (of_base, own)):
        if trouble := await trouble_of(base, report, of_base=report is of_base):
            asked = about_unstarted(report, trouble.at_base, rules.goal, rules.protected)
            if asked is None:
                return errored(gate, trouble.text, ending=report.ending.value, reason="environment")
            judged = JudgedRun(of_base=of_base, own=own, compared=True, questions=(asked,))
            return result_of(gate, await asked_about_source(judged, rules.protected, questions))
    return None


async def _questioned(
    judged: JudgedRun,
    source: NewSource,
    questions: SourceQuestions,
    rules: SortingRules,
    base: BaseTests,
    limits: WorkspaceLimits,
) -> JudgedRun:
    """Ask about changes to what tests use, about suspicious source, and about a lack of tests."""
    if judged.of_base is None:
        files = await asyncio.to_thread(tree_files, rules.changed.base, limits)
        judged = asked_without_tests(judged, rules.protected, files)
    judged = await asked_about_surroundings(judged, rules.protected, base)
    judged = await asked_about_source(judged, rules.protected, questions)
    return await asked_about_skips(judged, rules.protected, rules.goal, source)


async def _known(
    gate: PytestGateSettings, context: EvaluationContext, base: Path | None, found: Ready
) -> Baseline | None:
    """Return the run's baseline if base, environment and rules are the same here."""
    known = context.get("baseline")
    if known is None or base is None or not gate.compare_base:
        return None
    try:
        return known if known.key == await gate.key_of(base, found) else None
    except OSError:
        return None


async def _both_runs(
    harness: Harness, layout: Layout, base: BaseTests, rules: SortingRules
) -> tuple[RunReport | None, RunReport | None]:
    """Run the base's tests and the candidate's own, past those that never end or take too long."""
    watching = asyncio.create_task(base.slow.watch())
    try:
        found = await together(
            _run(harness, layout.base_run, base.slow.short), _run(harness, layout.own_run, base.slow.short)
        )
    finally:
        watching.cancel()
    past: list[RunReport | None] = []
    for tree, report in zip((layout.base_run, layout.own_run), found, strict=True):
        ended = await base.endless.past(tree, report)
        past.append(await base.slow.past(tree, ended, rules.goal.names))
    return past[0], past[1]


async def _run(harness: Harness, tree: RunTree | None, short: asyncio.Event) -> RunReport | None:
    return None if tree is None else without_asides(await harness.run(tree, short=short), tree.only)


async def _compared(
    of_base: RunReport | None,
    own: RunReport | None,
    layout: Layout,
    base: BaseTests,
    *,
    self_compared: bool,
) -> JudgedRun:
    judged = JudgedRun(
        own=own.without(own.left_out) if own else None,
        left_out=dict(base.slow.known),
        compared=self_compared,
        self_written_only=self_compared and of_base is None,
        laid_over=layout.laid_over,
    )
    if of_base is None:
        return judged
    if of_base.forged and await base.forged_too(of_base):
        of_base = replace(of_base, forged=())
    if of_base.ending is not PytestEnding.COMPLETE:
        return replace(judged, of_base=of_base)
    return replace(
        judged,
        of_base=of_base.without(of_base.left_out),
        lost=base.endless.kept_from(await base.lost(of_base)),
        endless=dict(base.endless.known),
        idle=await base.newly_idle(of_base),
        replaced=base.replaced(of_base),
    )


async def _second_look(harness: Harness, layout: Layout, judged: JudgedRun, base: BaseTests) -> SecondLook:
    found = SecondLook()
    if judged.of_base is not None and layout.base_run is not None:
        looked = await look_again(harness, layout.base_run, judged.of_base, base)
        found += await steadied(harness, layout.base_run, judged.of_base, looked)
    if judged.own is not None and layout.own_run is not None:
        looked = await look_again(harness, layout.own_run, judged.own)
        found += await steadied(harness, layout.own_run, judged.own, looked)
        found += await red_versions(judged.own, judged.of_base, base)
        found += await red_where_loaded(harness, layout.own_run, judged.own, base)
    return found
