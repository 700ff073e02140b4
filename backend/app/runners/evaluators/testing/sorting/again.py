"""Runs failed tests again, to find out whether they are flaky, also fail at the base, or lack something."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.at_base.remembered import Remembered
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.failure_words import fails_alike
from app.runners.evaluators.testing.running.garbage import garbage_in
from app.runners.evaluators.testing.running.reaching import without_network
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.workspaces.together import together

LOOKED_AT = 10
"""Limit on the failing tests of one run that are run again."""

_BASE_RUNS = 3
_BY_TIME = re.compile(
    r"\b(?:BrokenPipe|ConnectionReset|ConnectionAborted)Error\b"
    r"|\bPytest(?:UnraisableException|UnhandledThreadException)Warning\b|multiple unraisable exception "
)
"""A server may close a connection before the client has sent all, which is a race of two threads. Pytest
blames what is collected as garbage, or fails in a thread, on the test that runs just then."""
_COMPARED = 500
"""Limit on failing tests that run by name at the base. With more, their files do, unless a control has."""

_MANY = 100
_NEARLY_ALL = 0.9
"""The share of at least `_MANY` described failures that speaks for those that are not described."""

_AFFORDABLE = 60.0
"""Seconds that the tests that run once more may have taken together."""


async def look_again(
    harness: Harness, tree: RunTree, report: RunReport, base: BaseTests | None = None
) -> SecondLook:
    """Run failing tests once more. At the same time, run those of the base at the base.

    Args:
        harness: runs them.
        tree: the tree of the failed run.
        report: the report of the failed run.
        base: the base, if its tests were run.
    """
    failing = [each.id for each in report.failures[: LOOKED_AT if base is None else None]]
    if report.ending is not PytestEnding.COMPLETE or not failing:
        return SecondLook()
    looked_at = _worth_repeating(failing, report)
    again = _alone(harness, tree, looked_at)
    if base is None:
        return SecondLook(flaky=_now_good(looked_at, await again))
    if base.remembered is not None and base.remembered.knows(failing):
        return await _remembered(base.remembered, base, report, failing, await again)
    by_name = len(failing) <= _COMPARED or bool(base.slow.known or base.endless.known)
    files = set(map(file_of, failing))
    alone, there = await together(again, base.run(files, failing) if by_name else base.run_now(files))
    flaky = _now_good(looked_at, alone)
    at_base = tuple(each for each in failing if _is_bad(each, there))
    # With many red tests, those that only fail here may come after the first few.
    others = [each for each in failing if each not in (*at_base, *looked_at)]
    if others and set(looked_at) <= set(at_base):
        others = _worth_repeating(others, report)
        flaky += _now_good(others, await _alone(harness, tree, others))
    red, varying = await _twice_red(base, at_base, there, by_name=by_name)
    look = SecondLook(
        flaky=flaky,
        at_base=at_base,
        red={each: _message(each, there) for each in red},
        varying=tuple(each for each in red if each in varying or _differ(each, report, alone)),
        red_files={each: there.tests[each].files for each in red if each in there.tests},
        flaky_at_base=await _flaky_there(base, flaky, there) if flaky else (),
        environment=await lacking_in_both(at_base, report, there, base),
        without_network=without_network(at_base, there),
    )
    return await _with_company(look, failing, base)


async def _twice_red(
    base: BaseTests, at_base: Sequence[str], there: RunReport, *, by_name: bool
) -> tuple[list[str], set[str]]:
    """Return the tests that fail in two runs of the base, and those of them whose words may vary there.

    Args:
        base: the base.
        at_base: the tests that failed in its first run.
        there: the report of that run.
        by_name: whether only these run, and not all tests of their files.
    """
    # Where tests take too long, one look at the base has to do.
    repeated = set[str]() if base.slow.known else set(_affordable(at_base, there))
    named = repeated if by_name else None
    once_more = await base.run_now(set(map(file_of, repeated)), named) if repeated else there
    red = [each for each in at_base if each not in repeated or _is_bad(each, once_more)]
    return red, {each for each in red if each not in repeated or _differ(each, there, once_more)}


async def red_versions(own: RunReport, of_base: RunReport | None, base: BaseTests) -> SecondLook:
    """Look at the base for versions of the candidate's failing tests that did not run on its code.

    The code cannot load their file, a test before them stops the run, or there was no time. Others of their
    file that did not run either may fail in the same words.

    Args:
        own: the run of the candidate's tests.
        of_base: the run of the base's tests on the candidate's code.
        base: the base.
    """
    unread = {file_of(each.id) for each in of_base.errors} if of_base else set[str]()
    files = {file_of(each.id) for each in own.failures}
    unrun = [each for each in (*base.endless.known, *base.slow.known) if file_of(each) in files]
    missing = [each.id for each in own.failures if file_of(each.id) in unread or each.id in unrun]
    missing += [each for each in unrun if each not in missing][:LOOKED_AT]
    if own.ending is not PytestEnding.COMPLETE or not missing:
        return SecondLook()
    there = (await base.run(set(map(file_of, missing)), missing)).tests
    return SecondLook(
        red={each: there[each].message for each in missing if each in there and there[each].bad}
    )


async def _alone(harness: Harness, tree: RunTree, ids: Sequence[str]) -> RunReport:
    """Run tests once more, without others."""
    if not ids:
        return RunReport(PytestEnding.COMPLETE)
    return await harness.run(replace(tree, only=frozenset(map(file_of, ids))), ids=ids)


async def _with_company(look: SecondLook, failing: Sequence[str], base: BaseTests) -> SecondLook:
    """Run all tests of the base, if a test fails only beside others. Their order or number may be the cause.

    Such a test fails in the whole run of the candidate, and passes alone, here and at the base. What the
    base's tests leave as garbage counts as red in whichever test is blamed.
    """
    settled = {*look.at_base, *look.flaky_at_base}
    left = [each for each in failing if each not in settled]
    if not any(each in left for each in look.flaky):
        return look
    whole = await base.run_now()
    red = [each for each in left if _is_bad(each, whole)]
    red += [each.id for each in whole.failures if each.id not in failing and garbage_in(each.message)]
    return look + SecondLook(
        at_base=tuple(red),
        red={each: _message(each, whole) for each in red},
        red_files={each: whole.tests[each].files for each in red if each in whole.tests},
    )


async def steadied(harness: Harness, tree: RunTree, report: RunReport, second: SecondLook) -> SecondLook:
    """Run all tests once more if only flaky tests prevent a pass.

    Args:
        harness: runs them.
        tree: the tree of the failed run.
        report: the report of the failed run.
        second: what is known of its failures.
    """
    settled = {*second.flaky_at_base, *second.red}
    left = [each.id for each in report.failures if each.id not in settled]
    if not left or any(each not in second.flaky for each in left):
        return second
    by_time = [each for each in left if _BY_TIME.search(report.tests[each].message)]
    again = await harness.run(tree)
    good = set(_now_good(left, again)).union(by_time)
    unsteady = tuple(each for each in left if each in good)
    return replace(second, unsteady=unsteady if again.ending is PytestEnding.COMPLETE else ())


async def _remembered(
    known: Remembered, base: BaseTests, report: RunReport, failing: Sequence[str], alone: RunReport
) -> SecondLook:
    """Return what the baseline says about failing tests.

    The base runs again only for a test that passed there twice and is flaky here.
    """
    flaky = _now_good(failing, alone)
    there = known.report(set(map(file_of, failing)), failing, flaky=Outcome.FAILED)
    at_base = tuple(each for each in failing if _is_bad(each, there))
    red = [each for each in at_base if each not in known.flaky]
    unsettled = [each for each in flaky if each not in at_base]
    settled = {each for each in flaky if each in known.flaky}
    if unsettled:
        settled.update(await _flaky_there(base, unsettled, there))
    return SecondLook(
        flaky=flaky,
        at_base=at_base,
        red={each: _message(each, there) for each in red},
        varying=tuple(each for each in red if each in known.varying or _differ(each, report, alone)),
        red_files={each: there.tests[each].files for each in red if each in there.tests},
        flaky_at_base=tuple(each for each in flaky if each in settled),
        environment=await lacking_in_both(at_base, report, there, base),
        without_network=without_network(at_base, there),
    )


async def _flaky_there(base: BaseTests, flaky: Collection[str], there: RunReport) -> tuple[str, ...]:
    good = set(_now_good(flaky, there))
    bad = {each for each in flaky if _is_bad(each, there)}
    for _ in range(_BASE_RUNS - 1):
        if good == bad:
            break
        run = await base.run_now(set(map(file_of, flaky)), flaky)
        good.update(_now_good(flaky, run))
        bad.update(each for each in flaky if _is_bad(each, run))
    return tuple(each for each in flaky if each in good and each in bad)


async def lacking_in_both(
    names: Collection[str], report: RunReport, there: RunReport, base: BaseTests
) -> dict[str, str]:
    """Return what the environment lacks for tests that failed for that reason here and at the base."""
    both = {
        each: (report.tests[each].message, there.tests[each].message) for each in names if each in there.tests
    }
    found = {name: what for name, pair in both.items() if (what := await base.lacks.for_both(*pair))}
    # After very many failures, a run describes no more of them. They have the cause of nearly all others.
    untold = [name for name, (one, other) in both.items() if not (one and other)]
    told = len(both) - len(untold)
    if told >= _MANY and len(found) >= _NEARLY_ALL * told:
        found |= dict.fromkeys(untold, Counter(found.values()).most_common(1)[0][0])
    return found


def _worth_repeating(failing: Sequence[str], report: RunReport) -> list[str]:
    """Return failing tests to run once more. One that did not end would only take as long again."""
    cut = set(report.cut)
    ended = [each for each in failing if each not in cut]
    return _affordable(ended[:LOOKED_AT], report)


def _affordable(ids: Collection[str], report: RunReport) -> list[str]:
    """Return the tests that take a minute together, the quickest first, and at least one.

    Slow tests that fail mostly wait for something that the machine lacks, and fail as before.
    """
    took = {each: report.tests[each].seconds if each in report.tests else 0.0 for each in ids}
    order = sorted(took, key=lambda each: took[each])
    ends = accumulate(took[each] for each in order)
    fitting = {each for each, end in zip(order, ends, strict=True) if end <= _AFFORDABLE}
    return [each for each in ids if each in fitting or each == order[0]]


def _now_good(ids: Collection[str], run: RunReport) -> tuple[str, ...]:
    return tuple(each for each in ids if (test := run.tests.get(each)) is not None and test.ok)


def _message(name: str, run: RunReport) -> str:
    if name in run.tests:
        return run.tests[name].message
    return next((each.message for each in run.errors if each.id == file_of(name)), "")


def _differ(name: str, one: RunReport, other: RunReport) -> bool:
    """Return True if a test fails in both of two runs, in different words."""
    is_bad = _is_bad(name, one) and _is_bad(name, other)
    return is_bad and not fails_alike(_message(name, one), _message(name, other))


def _is_bad(name: str, run: RunReport) -> bool:
    if name in run.tests:
        return run.tests[name].bad
    return any(each.id == file_of(name) for each in run.errors)
