"""Asks about tests that pass only with the candidate's list of filtered warnings.

Many projects turn warnings into errors in pytest's configuration. A change that begins to warn of something
then exempts its own warning there. The base's configuration counts, so the base's tests fail on such code.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.runners.evaluators.protection.questions import question_of_file
from app.runners.evaluators.testing.layout.config import options_of
from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.changed import ChangedTests, both_sides, is_good
from app.schemas.questions import Question, QuestionKind

_FILTERS = "filterwarnings"


async def asked_about_filters(
    harness: Harness, changed: ChangedTests, left: RunReport, known: Collection[str]
) -> list[Question]:
    """Return a question if the candidate filters other warnings, and all its tests pass with that.

    Nothing is asked if another option of pytest was changed, because most of them decide which tests run.

    Args:
        harness: runs all tests of the candidate with its own configuration.
        changed: the trees, and what the candidate changed of the test setting.
        left: the base's tests on the candidate's code, with the failures that nothing else explains.
        known: ids of tests that may fail.
    """
    name = await asyncio.to_thread(_changed_filters, changed)
    if not name:
        return []
    tree = await asyncio.to_thread(whole_tree, changed.workspace, harness.limits)
    report = await replace(harness, base=changed.workspace).run(tree)
    report = report.without(known)
    passing = {each.id for each in report.tests.values() if each.ok}
    gone = {each.id for each in left.failures} - passing
    if gone or left.errors or not is_good(report):
        return []
    return [await asyncio.to_thread(_question, name, changed, len(left.failures), len(passing))]


def _changed_filters(changed: ChangedTests) -> str:
    """Return the configuration file if its filtered warnings are all that differs in pytest's options."""
    before, after = options_of(changed.base), options_of(changed.workspace)
    if before is None or after is None or before[0] != after[0]:
        return ""
    keys = {key for key in {*before[1], *after[1]} if before[1].get(key) != after[1].get(key)}
    return before[0] if keys == {_FILTERS} else ""


def _question(name: str, changed: ChangedTests, failing: int, passing: int) -> Question:
    parts: Sequence[Question] = [
        question_of_file(name, *changed.versions(name)),
        *changed.changes(changed.laid_over),
        *(question_of_file(each, *changed.versions(each)) for each in changed.added),
    ]
    text = (
        f"The tests pass on this code only with the changed `{_FILTERS}` in `{name}`: does the goal say so?"
    )
    why = f"with the base's filters {failing} tests fail, with the changed ones all {passing} pass"
    before, after = both_sides(parts)
    return Question.about(name, QuestionKind.DIFFERENT, text, why=why, before=before, after=after)
