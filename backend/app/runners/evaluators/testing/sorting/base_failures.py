"""Decides which failing tests of the base count, because some already failed there. Pure."""

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.touched import Touched
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.failure_words import fails_alike, failure_words
from app.runners.evaluators.testing.running.machine_words import missing_on_machine
from app.runners.evaluators.testing.running.report import CollectProblem, RanTest
from app.runners.evaluators.testing.sorting.abstract_tests import is_of_abstract_class
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.runners.evaluators.testing.sorting.unwritten import is_slip_of_test, waits_for_code
from app.schemas.questions import BaseFailures, Question, QuestionKind

# Error messages about versions of other people's code rather than the project's own code.
_OTHERS = re.compile(
    r"cannot import name '\w+' from '[\w.]+' \([^)]*/(?:lib/python3\.\d+|site-packages)/"
    r"|\b(?:PendingDeprecation|Deprecation|PytestDeprecation|PytestRemovedIn\d+)Warning: "
)
# What a project that turns warnings into errors sees of an imported helper, like `unittest.TestSuite`.
_NO_TESTS = re.compile(r"\bPytestCollectionWarning: cannot collect test class ")
_NO_ATTRIBUTE = re.compile(r"module '([\w.]+)' has no attribute ")
_KNOWN = "it fails at the base, too, and is one of the project's known failures"
_UNTOUCHED = "it already failed in the same way, and the change touches nothing that it uses"
_KIND = re.compile(r"^\S+:\d+: ([\w.]+)")
_RAISED = re.compile(
    r"^(\S+:\d+): (?!(?:\w+\.)*(?:AssertionError|Failed)\b)([\w.]*(?:Error|Exception|Warning))\b"
)
_TIME_UP = re.compile(r"\bFailed: Timeout\b")
"""In the message of a test that a plug-in's limit ended."""

_ELSEWHERE = re.compile(r"^\S*/(?:lib/python3(?:\.\d+)?|site-packages)/\S+:\d+: ")


@dataclass(frozen=True, slots=True)
class SortedFailures:
    """Failing tests of the base that may not count.

    Attributes:
        known: by id, why a test that also fails at the base does not count.
        questions: about tests for which that is not certain.
    """

    known: Mapping[str, str] = field(default_factory=dict[str, str])
    questions: tuple[Question, ...] = ()


def sort_failures(
    failures: Iterable[RanTest],
    second: SecondLook,
    goal: Goal,
    code: BaseCode,
    touched: Touched | None = None,
) -> SortedFailures:
    """Sort failing tests. Those in neither group of the result count against the candidate.

    Args:
        failures: tests of the base that fail on the candidate's code.
        second: what is known of them at the base.
        goal: which of them count.
        code: the base's code.
        touched: what the candidate changed; None if unknown.
    """
    if goal.policy is BaseFailures.MUST_PASS:
        return SortedFailures()
    known: dict[str, str] = {}
    questions: list[Question] = []
    for test in failures:
        if second.is_flaky_at_base(test.id) and not goal.names(test.id):
            known[test.id] = "it is flaky: the base's own code passes and fails it"
            continue
        if test.id not in second.red or (goal.policy is BaseFailures.GOAL and goal.names(test.id)):
            continue
        why = _not_the_goal(test, second, goal, code, touched)
        if why:
            known[test.id] = why
        elif not (_is_subject(test, second, goal, touched) or _stays_red(test, second, goal, code, touched)):
            continue
        elif touched is not None and _is_aside(test, second, goal, touched):
            known[test.id] = _UNTOUCHED
        else:
            questions.append(_question(test, second.red[test.id]))
    return SortedFailures(known, tuple(questions))


def sort_errors(
    errors: Iterable[CollectProblem], at_base: Mapping[str, str], goal: Goal, code: BaseCode
) -> SortedFailures:
    """Sort tests of the base that cannot be loaded. Those that the base can load count against the candidate.

    Args:
        errors: problems of loading with the candidate's code.
        at_base: the message by file or class for those that the base cannot load either.
        goal: which failures count.
        code: the base's code.
    """
    known: dict[str, str] = {}
    questions: list[Question] = []
    for each in errors:
        there = at_base.get(each.id)
        is_goal = goal.policy is not BaseFailures.IGNORE and goal.names(each.id)
        if there is None or is_goal or goal.policy is BaseFailures.MUST_PASS:
            continue
        if not fails_alike(each.message, there):
            continue
        why = _unreadable_aside(each, goal, code)
        if why:
            known[each.id] = why
        elif may_stay(each.id, there, goal, code):
            questions.append(_question(each, there))
    return SortedFailures(known, tuple(questions))


def _unreadable_aside(problem: CollectProblem, goal: Goal, code: BaseCode) -> str:
    """Return why a file that the base cannot read either does not count; empty if a person decides."""
    if goal.policy is BaseFailures.IGNORE or goal.tests:
        return "it cannot be read at the base either"
    if goal.knows(problem.id):
        return _KNOWN
    if _is_about_versions(problem.message, code):
        return "the base cannot read it either: it expects other versions of what it uses"
    if _NO_TESTS.search(problem.message):
        return "pytest takes it for no test class, at the base either"
    return ""


def _not_the_goal(
    test: RanTest, second: SecondLook, goal: Goal, code: BaseCode, touched: Touched | None
) -> str:
    if goal.policy is BaseFailures.IGNORE:
        return "it fails at the base, too"
    if goal.knows(test.id):
        return _KNOWN
    if goal.tests:
        return "it fails at the base, too, and is not among the tests of the goal"
    is_subject = _is_subject(test, second, goal, touched)
    if test.id in second.environment and not is_subject:
        return f"it fails at the base in the same way: {second.environment[test.id]}"
    if test.id in second.without_network and not (goal.is_about_tests or is_subject):
        return "it fails at the base, too, and needs a network, which tests do not have"
    why = _not_the_code(test, code) if fails_alike(test.message, second.red[test.id]) else ""
    return f"it fails at the base in the same way: {why}" if why else ""


def _not_the_code(test: RanTest, code: BaseCode) -> str:
    """Return why a failure has nothing to do with the project's own code; empty if it may have."""
    if _is_about_versions(test.message, code):
        return "the code expects other versions of what it uses"
    if is_of_abstract_class(test.message, test.id, code):
        return "its class lacks what those define that extend it"
    if is_slip_of_test(test.message, test.id, code):
        return "the test uses a name that it does not define"
    return ""


def _is_subject(test: RanTest, second: SecondLook, goal: Goal, touched: Touched | None) -> bool:
    """Return True if a failure that is about the machine passes through a source file that the goal names.

    What the machine lacks may be just what that file should handle, so a run that leaves it needs a question.
    A test that only wants a network may fail later, so the files that it imports count as well.
    """
    if test.id not in second.environment and test.id not in second.without_network:
        return False
    through = {*test.files, *second.red_files.get(test.id, ())} - {file_of(test.id)}
    if test.id not in second.environment and touched is not None:
        through.update(touched.imported_by(file_of(test.id)))
    names = {each.rpartition("/")[2] for each in through}
    return any(re.search(rf"(?<![\w.]){re.escape(each)}(?!\w)", goal.words) for each in names)


def _is_about_versions(message: str, code: BaseCode) -> bool:
    found = _NO_ATTRIBUTE.search(message)
    if found is not None:
        module = found.group(1).partition(".")[0]
        # A module that is there and not in the tree is installed.
        return module in sys.stdlib_module_names or not code.has_module(module)
    return bool(_OTHERS.search(message))


def _stays_red(
    test: RanTest, second: SecondLook, goal: Goal, code: BaseCode, touched: Touched | None
) -> bool:
    """Return True if a test fails as before, and nothing says that the run should make it pass.

    If the change does not affect a test, it may fail in another way, because that depends on the machine or
    on chance. So may a test that fails in different ways at the base, and one in which the same exception is
    raised with other words, by other people's code or in the same line of the test. Or it fails outside the
    project as another test does at the base, or both times for want of something that is not there.
    """
    at_base = second.red[test.id]
    if test.id in second.without_network:
        return True
    if _lack_the_same(test.message, at_base):
        return True
    if not may_stay(test.id, at_base, goal, code):
        return False
    is_same = (
        fails_alike(test.message, at_base) or _raised_alike(test, at_base) or _like_another(test, second)
    )
    return (
        is_same
        or test.id in second.varying
        or (touched is not None and not _plays_a_part(test, second, goal, touched))
    )


def _lack_the_same(here: str, there: str) -> bool:
    """Return True if two failures are about the machine. One may have waited so long that its time was up."""
    both = (here, there)
    lacks = [missing_on_machine(each) is not None for each in both]
    return all(lacks) or (any(lacks) and any(map(_TIME_UP.search, both)))


def _raised_alike(test: RanTest, at_base: str) -> bool:
    """Return True if the same exception is raised elsewhere, or in the same line of the test.

    A wrong assertion is no such exception: another value there is another try.
    """
    both = (test.message, at_base)
    kinds = [_KIND.match(each) if _ELSEWHERE.search(each) else None for each in both]
    names = [None if each is None else each.group(1) for each in kinds]
    if names[0] is not None and names[0] == names[1]:
        return True
    here, there = map(_RAISED.match, both)
    if here is None or there is None or here.groups() != there.groups():
        return False
    return here.group(1).startswith(f"{file_of(test.id)}:")


def _like_another(test: RanTest, second: SecondLook) -> bool:
    """Return True if a test fails outside the project, as another test does at the base."""
    words = failure_words(test.message)
    return is_elsewhere(test.message) and any(failure_words(each) == words for each in second.red.values())


def is_assertion(message: str) -> bool:
    """Return True if a test failed because it found something else than it expects."""
    return _RAISED.match(message) is None


def is_elsewhere(message: str) -> bool:
    """Return True if a failure arises in an installed package or in Python's own library."""
    return bool(_ELSEWHERE.search(message))


def may_stay(test_id: str, at_base: str, goal: Goal, code: BaseCode) -> bool:
    """Return True if nothing says that the run should fix the failure.

    If the failure is in the project's own code, the goal may mean tests without naming any ("make the tests
    pass"), or the test may wait for code that is not yet written.
    """
    if is_elsewhere(at_base):
        return True
    return bool(goal.words) and not (goal.is_about_tests or waits_for_code(at_base, test_id, goal, code))


def _is_aside(test: RanTest, second: SecondLook, goal: Goal, touched: Touched) -> bool:
    """Return True if a test that stays red has nothing to do with the run, so that a note suffices.

    A failure in the project's own code may be the subject of the run, whatever the goal's words. A candidate
    that leaves it unfixed must not pass without a question, so only failures outside that code can be
    unrelated.
    """
    at_base = second.red[test.id]
    if not goal.words or goal.is_about_tests or not _ELSEWHERE.search(at_base):
        return False
    if not fails_alike(test.message, at_base):
        return False
    return not _plays_a_part(test, second, goal, touched)


def _plays_a_part(test: RanTest, second: SecondLook, goal: Goal, touched: Touched) -> bool:
    at_base = second.red_files.get(test.id, ())
    if not (test.files and at_base):
        return True
    return touched.plays_a_part(test.id, (*test.files, *at_base), goal.words)


def _question(test: RanTest | CollectProblem, at_base: str) -> Question:
    way = "in the same way" if fails_alike(test.message, at_base) else "in another way"
    text = f"`{test.id}` already failed at the base and fails {way}: may it stay like that?"
    message = " ".join(test.message.split())[:500]
    key = issue_key(message)
    elsewhere = "it fails outside the project's own code"
    why = f"{elsewhere if _ELSEWHERE.search(at_base) else 'the goal does not name it'}: {message}"
    question = Question.about(test.id, QuestionKind.RED_AT_BASE, text, why=why, before=key, after=key)
    return question.about_tests([test.id])
