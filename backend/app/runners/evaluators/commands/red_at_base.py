"""Decides what happens to a command's tests that also fail at the base, and to flaky tests. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import reduce

from app.runners.evaluators.commands.junit import Case, JUnit, JUnitOutcome
from app.runners.evaluators.testing.sorting.goal import Goal
from app.schemas.questions import BaseFailures, Question, QuestionKind


@dataclass(frozen=True, slots=True)
class RedAtBase:
    """Which failing tests of the base count: by policy, by globs of ids, by the words of the goal.

    Attributes:
        policy: which failures count.
        tests: globs of ids of tests that belong to the goal.
        words: the goal in the user's words.
        known: globs of ids of tests that the project knows to fail.
    """

    policy: BaseFailures = BaseFailures.GOAL
    tests: Sequence[str] = ()
    words: str = ""
    known: Sequence[str] = ()

    def wants(self, test_id: str) -> bool:
        """Return True if a test that fails at the base must pass."""
        if self.policy is not BaseFailures.GOAL:
            return self.policy is BaseFailures.MUST_PASS
        name = test_id.rpartition(" > ")[2]
        return _is_among(test_id, self.tests) or (len(name) > 3 and name in self.words)

    def asks_about(self, test_id: str) -> bool:
        """Return True if a person decides whether a test that fails at the base may stay like that."""
        is_open = self.policy is BaseFailures.GOAL and not self.tests
        is_known = _is_among(test_id, self.known) and not Goal(words=self.words).is_about_tests
        return is_open and not is_known


def _is_among(test_id: str, globs: Sequence[str]) -> bool:
    """Return True if a glob matches a test or its name without its suite."""
    names = (test_id, test_id.rpartition(" > ")[2])
    return any(fnmatchcase(name, glob) for glob in globs for name in names)


@dataclass(frozen=True, slots=True)
class Failures:
    """Failing tests, sorted by their effect.

    Attributes:
        counted: those that count against the candidate.
        red: those that also fail at the base, and do not count.
        flaky: those that passed when they ran again.
        flaky_at_base: those flaky tests that sometimes fail at the base; they do not count.
        questions: about red tests that may belong to the goal.
    """

    counted: tuple[Case, ...]
    red: tuple[Case, ...] = ()
    flaky: frozenset[str] = frozenset()
    flaky_at_base: frozenset[str] = frozenset()
    questions: tuple[Question, ...] = field(default=())


def sort_failures(now: JUnit, bases: Sequence[JUnit], red: RedAtBase, again: JUnit | None = None) -> Failures:
    """Sort the failing tests of a candidate. Of equal ids, no more are excused than fail at the base.

    Args:
        now: the candidate's run.
        bases: runs at the base.
        red: which failing tests of the base count.
        again: another run of the candidate, to find flaky tests.
    """
    failed_before = [Counter(_as_run(each.id) for each in base.failures) for base in bases]
    always = reduce(Counter[str].__and__, failed_before) if failed_before else Counter[str]()
    ever = reduce(Counter[str].__or__, failed_before, Counter[str]())
    told = {each for base in bases for each in base.failures}
    wanted = {_as_run(each.id) for each in now.failures if red.wants(each.id)}
    may_be_red = Counter({name: count for name, count in always.items() if name not in wanted})
    known, others = _shared(now.failures, may_be_red, told)
    passed_again = _passing(again) - _passing(now) if again else Counter[str]()
    excused, counted = _shared(others, (ever - always) & passed_again, told)
    asked = [each for each in known if red.asks_about(each.id)]
    return Failures(
        counted,
        known,
        frozenset(each.id for each in others if passed_again[_as_run(each.id)]),
        frozenset(each.id for each in excused),
        tuple(_question(each) for each in asked),
    )


def _shared(
    failures: Sequence[Case], room: Mapping[str, int], told: Collection[Case]
) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Split failures into those for which there is room, and the others. Several tests may share an id.

    Args:
        failures: the failures, in their order.
        room: how many failures of each id there is room for.
        told: failures of the base. Those that say the same come first.
    """
    left, inside = Counter(room), set[int]()
    for index in sorted(range(len(failures)), key=lambda each: failures[each] not in told):
        name = _as_run(failures[index].id)
        if left[name] > 0:
            left[name] -= 1
            inside.add(index)
    return (
        tuple(each for index, each in enumerate(failures) if index in inside),
        tuple(each for index, each in enumerate(failures) if index not in inside),
    )


def _passing(report: JUnit) -> Counter[str]:
    return Counter(_as_run(each.id) for each in report.cases if each.outcome is JUnitOutcome.PASSED)


def _as_run(test_id: str) -> str:
    """Return a test's id as if the test ran. Some of rustdoc's examples are only compiled."""
    return test_id.removesuffix(" - compile")


def _question(case: Case) -> Question:
    question = Question.about(
        case.id,
        QuestionKind.RED_AT_BASE,
        f"`{case.id}` already failed at the base and still fails: is that right?",
        why=case.message or "it fails at the base commit, too",
        before="",
        after="",
    )
    return question.about_tests([case.id])
