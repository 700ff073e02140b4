"""Measures the results of the base's tests before an agent has changed anything.

All tests run twice. Those with different results run twice more, to find out how often they fail.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree, whole_tree
from app.runners.evaluators.testing.running.failure_words import fails_alike
from app.runners.evaluators.testing.running.reaching import without_network
from app.runners.evaluators.testing.running.report import PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import RAISE_LIMIT, Harness
from app.runners.evaluators.tooling import excerpt
from app.schemas.baseline import Baseline, FlakyTest, RedTest
from app.workspaces.environments.outcome import Ready
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.origin import origin_of

RUNS = 2
"""How often all tests run."""

_MORE_RUNS = 2
_MOST_NAMES = 50_000
_MOST_MESSAGES = 1_000
_CHUNK = 1_000_000


def baseline_key(base: Path, found: Ready, rules: Iterable[str], limits: WorkspaceLimits) -> str:
    """Return the key of a baseline, from everything that it depends on.

    These are the files of the base, the environment and the rules of the run.

    Args:
        base: the tree.
        found: the interpreter that runs the tests.
        rules: further values that count, such as the version of the gate.
        limits: limits on the tree.

    Raises:
        WorkspaceError: the tree is larger than the limits allow.
        OSError: a file cannot be read.
    """
    made = hashlib.sha256()
    for name, tree in sorted(whole_tree(base, limits).files.items()):
        made.update(f"{name}\0{_content(tree / name)}\0".encode("utf-8", "surrogateescape"))
    environment = found.key or [str(found.python), *_packages(found.python)]
    # Tests can see a version that the build derives from git.
    made.update(json.dumps([environment, origin_of(base).described, *rules]).encode())
    return made.hexdigest()


async def measure(harness: Harness, base: Path, key: str) -> Baseline:
    """Run the base's tests on the base's own code.

    A run that does not end is not repeated, nor is a test that does not.

    Raises:
        ToolTroubleError: the interpreter cannot be started, or its pytest does not work.
        SandboxUnavailableError: the tests cannot be confined here.
    """
    whole = await asyncio.to_thread(whole_tree, base, harness.limits)
    tree = replace(whole, trusted=frozenset(whole.files))
    runs: list[RunReport] = []
    for _ in range(RUNS):
        report = await harness.run(tree)
        if report.ending is not PytestEnding.COMPLETE:
            return _without_end(report, harness, key)
        if report.cut:
            if len(report.cut) == len(report.tests):
                report = replace(report, ending=PytestEnding.TIMED_OUT, tests={})
                return _without_end(report, harness, key)
            harness = replace(harness, without=(*harness.without, *report.cut))
        runs.append(report)
    if differing := _differing(runs):
        runs += await _again(harness, tree, differing)
    return baseline_of(runs, key, harness.limit_of_test)


def baseline_of(runs: Sequence[RunReport], key: str, limit: float) -> Baseline:
    """Sort tests by their results in complete runs. Runs after the first two may be partial.

    Args:
        runs: the reports, at least `RUNS`.
        key: the key of the baseline.
        limit: time limit of one test, in seconds.
    """
    first, *others = runs
    by_test = {name: [run.tests[name] for run in runs if name in run.tests] for name in first.tests}
    red = [name for name, ran in by_test.items() if all(each.bad for each in ran)]
    flaky = [name for name, ran in by_test.items() if _is_flaky(ran)]
    passing = [name for name, ran in by_test.items() if all(each.ok for each in ran)]
    others_known = {*red, *flaky, *passing}
    skipped = [name for name in by_test if name not in others_known]
    needing = without_network(red, first)
    kept = len(red) + len(flaky) + len(first.errors) <= _MOST_MESSAGES and len(by_test) <= _MOST_NAMES
    return Baseline(
        key=key,
        passing=passing[:_MOST_NAMES],
        skipped=skipped[:_MOST_NAMES],
        red=[_red(by_test[name], needing) for name in red[:_MOST_MESSAGES]],
        flaky=[_flaky(by_test[name]) for name in flaky[:_MOST_MESSAGES]],
        unreadable=[
            RedTest(id=each.id, message=each.message, signature=issue_key(each.message))
            for each in first.errors[:_MOST_MESSAGES]
        ],
        forged=[each for each in first.forged if all(each in run.forged for run in others)],
        whole=kept and all(_is_like(first.without(first.cut), each) for each in runs[1:RUNS]),
        limit=limit,
        waits_for=next(iter(first.cut), ""),
        seconds=round(first.seconds, 3),
    )


async def _again(harness: Harness, tree: RunTree, names: Sequence[str]) -> list[RunReport]:
    only = replace(tree, only=frozenset(map(file_of, names)))
    runs = [await harness.run(only, ids=names) for _ in range(_MORE_RUNS)]
    return [each for each in runs if each.ending is PytestEnding.COMPLETE]


def _differing(runs: Sequence[RunReport]) -> list[str]:
    first, second = runs
    return [
        name
        for name, test in first.tests.items()
        if name in second.tests and (test.bad, test.ok) != (second.tests[name].bad, second.tests[name].ok)
    ]


def _is_flaky(ran: Sequence[RanTest]) -> bool:
    return any(each.bad for each in ran) and any(not each.bad for each in ran)


def _is_like(first: RunReport, second: RunReport) -> bool:
    """Return True if two runs had the same tests, and each of these ran to its end."""
    same = set(first.ids) == set(first.tests) == set(second.ids) == set(second.tests)
    return same and {each.id for each in first.errors} == {each.id for each in second.errors}


def _red(ran: Sequence[RanTest], needing_network: Collection[str]) -> RedTest:
    test, *others = ran
    # Beyond some number of failures, a run keeps no messages.
    same = all(fails_alike(test.message, each.message) for each in others if each.message)
    signature = issue_key(test.message) if same else ""
    return RedTest(
        id=test.id,
        message=test.message,
        signature=signature,
        files=list(test.files),
        needs_network=test.id in needing_network,
    )


def _flaky(ran: Sequence[RanTest]) -> FlakyTest:
    failed = [each for each in ran if each.bad]
    return FlakyTest(id=ran[0].id, failed=len(failed), runs=len(ran), message=failed[0].message)


def _without_end(report: RunReport, harness: Harness, key: str) -> Baseline:
    waits_for = report.unfinished[0] if report.unfinished else ""
    if report.ending is PytestEnding.TIMED_OUT:
        waited = f"; they wait for {waits_for}" if waits_for else ""
        trouble = f"the tests do not end within {report.seconds:.0f} seconds{waited}. {RAISE_LIMIT}"
    elif report.ending is PytestEnding.TORN:
        waited = f" in {waits_for}" if waits_for else ""
        trouble = f"the test run stopped early{waited}: {excerpt(report.text, 300)}"
    else:
        trouble = f"pytest cannot run there: {excerpt(report.text, 300)}"
        waits_for = ""
    return Baseline(
        key=key,
        limit=harness.limit_of_test,
        waits_for=waits_for if report.ending is PytestEnding.TIMED_OUT else "",
        seconds=round(report.seconds, 3),
        trouble=trouble,
    )


def _content(path: Path) -> str:
    """Return the identity of a tree's file: its bytes and whether it is executable, or its link's target."""
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    made = hashlib.sha256()
    with path.open("rb") as file:
        runs = os.fstat(file.fileno()).st_mode & 0o100
        while chunk := file.read(_CHUNK):
            made.update(chunk)
    return f"{'program' if runs else 'file'} {made.hexdigest()}"


def _packages(python: Path) -> list[str]:
    """Return when packages were last added to or removed from an environment that has no key."""
    places = sorted(python.parent.parent.glob("lib/python3*/site-packages"))
    return [f"{place} {place.stat().st_mtime_ns}" for place in places]
