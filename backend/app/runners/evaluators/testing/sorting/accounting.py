"""Sorts failing base tests: those that count, those that do not, and those that need a decision."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.layout.inventory import function_of
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.own_lacks import lacking_own
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.all_red import about_all_red
from app.runners.evaluators.testing.sorting.base_failures import (
    SortedFailures,
    sort_errors,
    sort_failures,
)
from app.runners.evaluators.testing.sorting.changed import ChangedTests, is_good
from app.runners.evaluators.testing.sorting.doubts import doubts_about
from app.runners.evaluators.testing.sorting.endless_tests import sort_endless
from app.runners.evaluators.testing.sorting.fixed_bugs import without_fixed_bugs
from app.runners.evaluators.testing.sorting.folding import as_few
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.left_out import questions_about, with_left_out
from app.runners.evaluators.testing.sorting.listed import listed
from app.runners.evaluators.testing.sorting.mostly_unread import most_unread, question_about
from app.runners.evaluators.testing.sorting.now_skipped import with_skips
from app.runners.evaluators.testing.sorting.own_plugin import ReplacedParts, replaced_by_plugin
from app.runners.evaluators.testing.sorting.warning_filters import asked_about_filters
from app.schemas.questions import BaseFailures, ProtectedPolicy, Question, QuestionKind

_CHOSEN = "the test is the base's, so the code chooses the rows; its other rows pass"
_NOTED = "the base's version fails, the changed one passes"


@dataclass(frozen=True, slots=True)
class SortingRules:
    """The rules by which failing tests of the base are sorted."""

    protected: ProtectedPolicy
    goal: Goal
    changed: ChangedTests
    code: BaseCode


def says_something(report: RunReport) -> bool:
    """Return True if tests passed, so that others may be left out: those alone are no evidence."""
    return report.ending is PytestEnding.COMPLETE and any(each.ok for each in report.tests.values())


async def accounted(harness: Harness, judged: JudgedRun, rules: SortingRules, base: BaseTests) -> JudgedRun:
    """Remove the failures that do not count, and ask about those that need a person's decision.

    If no test of the base passes, none is removed, because the rest would be no evidence. A person can still
    be asked if a changed helper keeps every file from loading, and the candidate's versions pass, or if every
    test fails as at the base, for want of a server or a module. No other question helps if all tests load and
    fail, because their new versions may require anything. Failures that are no proof (see `doubts`) lead to
    questions if everything else passes or is also asked. So do parts of pytest that a plug-in replaces, and
    tests that failed at the base and are skipped now.
    """
    red = await base.red_among(judged.idle) if rules.protected is ProtectedPolicy.ASK else {}
    return await with_skips(judged, red, lambda rest: _with_replaced(harness, rest, rules, base))


async def _with_replaced(
    harness: Harness, judged: JudgedRun, rules: SortingRules, base: BaseTests
) -> JudgedRun:
    replaced = ReplacedParts(())
    if rules.protected is ProtectedPolicy.ASK:
        replaced = await asyncio.to_thread(replaced_by_plugin, judged, rules.changed.base)
    judged = without_fixed_bugs(replaced.taken_from(judged)).counting_once()
    endless = sort_endless(judged.endless, rules.goal)
    judged = with_left_out(_with_endless(judged, endless), rules.goal)
    waiting = (*endless.questions, *questions_about(judged), *replaced.questions())
    found = await _with_doubts(harness, judged, rules, base)
    if not (waiting and (found.questions or found.all_well)):
        return found
    doubtful = [*found.doubtful, *(each.text for each in replaced.questions())]
    return replace(found, questions=(*found.questions, *waiting), doubtful=doubtful)


def _with_endless(judged: JudgedRun, endless: SortedFailures) -> JudgedRun:
    """Note tests that never end. Keep those that need a person's decision, and count the others as failed."""
    if judged.of_base is None or not judged.endless:
        return judged
    asked = {each.id: judged.endless[each.id] for each in endless.questions}
    counted = {
        name: RanTest(name, Outcome.FAILED, 0.0, f"it {why}")
        for name, why in judged.endless.items()
        if name not in asked and name not in endless.known
    }
    report = judged.of_base
    report = replace(report, tests={**report.tests, **counted}, ids=(*report.ids, *counted))
    return replace(judged, of_base=report, known={**judged.known, **endless.known}, doubted=asked)


async def _with_doubts(
    harness: Harness, judged: JudgedRun, rules: SortingRules, base: BaseTests
) -> JudgedRun:
    """Sort the failures, and ask about those that are no proof."""
    if rules.protected is not ProtectedPolicy.ASK:
        return await _with_rows(harness, judged, rules, base)
    trees = (rules.changed.base, rules.changed.workspace)
    doubts = doubts_about(judged, await lacking_own(harness, trees, judged.own))
    if not doubts:
        return await _with_rows(harness, judged, rules, base)
    found = await _with_rows(harness, doubts.taken_from(judged), rules, base)
    if not (found.questions or found.all_well):
        # Something else prevents a pass, so everything is reported and nothing is asked.
        return await _with_rows(harness, judged, rules, base)
    return replace(found, questions=(*found.questions, *doubts.questions()))


async def _with_rows(harness: Harness, judged: JudgedRun, rules: SortingRules, base: BaseTests) -> JudgedRun:
    """Sort the failures, and ask about rows of base tests that the code determines."""
    asked = {} if rules.protected is ProtectedPolicy.FAIL else _fewer_rows(judged)
    if not asked:
        return await _accounted(harness, judged, rules, base)
    rows = {each for ids in asked.values() for each in ids}
    lost = [each for each in judged.lost if each not in rows]
    found = await _accounted(harness, replace(judged, lost=lost, fewer=sorted(rows)), rules, base)
    if not (found.questions or found.all_well):
        return replace(found, lost=judged.lost, fewer=())
    questions = [_about_rows(function, ids) for function, ids in asked.items()]
    return replace(found, questions=(*found.questions, *questions))


def _fewer_rows(judged: JudgedRun) -> dict[str, list[str]]:
    """Group lost rows of parametrised tests by function, if its others do what they do at the base."""
    ran: dict[str, list[RanTest]] = defaultdict(list)
    for test in judged.of_base.tests.values() if judged.of_base else ():
        ran[function_of(test.id)].append(test)
    found: dict[str, list[str]] = defaultdict(list)
    for each in judged.lost:
        function = function_of(each)
        others = ran[function] if function != each else []
        if others and all(_is_as_before(test, judged) for test in others):
            found[function].append(each)
    return found


def _is_as_before(test: RanTest, judged: JudgedRun) -> bool:
    """Return True if a test passes, or fails, is skipped or is expected to fail at the base, too."""
    is_excused = test.outcome in (Outcome.SKIPPED, Outcome.XFAILED) and test.id not in judged.lost
    return test.ok or is_excused or test.id in judged.second.red


def _about_rows(function: str, ids: Sequence[str]) -> Question:
    rows = listed([each.removeprefix(function) for each in ids])
    text = f"`{function}` no longer runs for {rows}: does the goal say so?"
    return Question.about(function, QuestionKind.REMOVED, text, why=_CHOSEN, before="\n".join(ids))


async def _accounted(harness: Harness, judged: JudgedRun, rules: SortingRules, base: BaseTests) -> JudgedRun:
    of_base = judged.of_base
    if (
        of_base is not None
        and of_base.ending is PytestEnding.BROKEN
        and rules.protected is ProtectedPolicy.ASK
    ):
        return replace(judged, questions=await rules.changed.about_setting(harness, judged.own))
    if of_base is None or not judged.hangs_on_base:
        return judged
    if not says_something(of_base):
        return await _asked_about_all(harness, judged, rules, base)
    found = await _sorted(of_base, judged, rules, base)
    unread = most_unread(found.known, of_base, rules.goal)
    red = (*as_few(found.questions), *([question_about(unread, of_base)] if unread else []))
    of_base = of_base.without(found.known)
    known = {name: why for name, why in {**judged.known, **found.known}.items() if name not in unread}
    judged = replace(judged, of_base=of_base, known=known, doubted={**judged.doubted, **unread})
    left = of_base.without({each.id for each in found.questions})
    if not (left.failures or left.errors):
        return replace(judged, questions=red)
    if rules.protected is ProtectedPolicy.FAIL:
        return judged
    changed = await rules.changed.questions(harness, left, judged.own, judged.doubted)
    if rules.protected is ProtectedPolicy.ASK:
        changed = changed or await _about_filters(harness, judged, rules, left)
        return replace(judged, questions=(*red, *changed)) if changed else judged
    if not changed:
        return judged
    noted = {each.id: _NOTED for each in (*left.failures, *left.errors)}
    known |= noted
    return replace(judged, of_base=of_base.without(noted), known=known, questions=red)


async def _about_filters(
    harness: Harness, judged: JudgedRun, rules: SortingRules, left: RunReport
) -> list[Question]:
    if judged.of_base is None or not (judged.own is None or is_good(judged.own)):
        return []
    may_fail = {*judged.known, *judged.of_base.tests}.difference(left.tests)
    return await asked_about_filters(harness, rules.changed, left, may_fail)


async def _asked_about_all(
    harness: Harness, judged: JudgedRun, rules: SortingRules, base: BaseTests
) -> JudgedRun:
    of_base = judged.of_base
    if of_base is None or rules.protected is not ProtectedPolicy.ASK:
        return judged
    unreadable = await base.unreadable() if of_base.errors else {}
    touched = await asyncio.to_thread(rules.changed.touched) if judged.second.red else None
    question = about_all_red(of_base, judged.second, unreadable, rules.goal, rules.code, touched)
    if question is not None:
        return replace(judged, questions=(question,))
    if of_base.failures or not of_base.errors:
        return judged
    return replace(judged, questions=await rules.changed.questions(harness, of_base, judged.own))


async def _sorted(
    of_base: RunReport, judged: JudgedRun, rules: SortingRules, base: BaseTests
) -> SortedFailures:
    touched = await asyncio.to_thread(rules.changed.touched) if judged.second.red else None
    found = sort_failures(of_base.failures, judged.second, rules.goal, rules.code, touched)
    unread = await _unread(of_base, rules, base)
    return SortedFailures({**found.known, **unread.known}, (*found.questions, *unread.questions))


async def _unread(of_base: RunReport, rules: SortingRules, base: BaseTests) -> SortedFailures:
    """Sort the tests that cannot be loaded: because of the environment, or as at the base."""
    goal = rules.goal
    if goal.policy is BaseFailures.MUST_PASS or not of_base.errors:
        return SortedFailures()
    lacking = await base.lacks.explain_files(of_base.errors)
    known = {name: what for name, what in lacking.items() if not goal.names(name)}
    left = [each for each in of_base.errors if each.id not in known]
    found = sort_errors(left, await base.unreadable() if left else {}, goal, rules.code)
    return SortedFailures({**known, **found.known}, found.questions)
