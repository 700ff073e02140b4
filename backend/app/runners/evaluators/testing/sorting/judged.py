"""The results of a candidate's test runs after comparison with the base. Pure data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport
from app.runners.evaluators.testing.running.failure_words import fails_alike, failure_words
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.runners.evaluators.testing.sorting.unrun_code import UnrunCode
from app.schemas.modes import InProcessOnly
from app.schemas.questions import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """The runs of a candidate, at least one, and the result of comparing them with the base.

    Attributes:
        of_base: the base's tests on the candidate's code.
        own: the tests that the candidate added or changed, or without a base all its tests.
        lost: ids of base tests that did not run.
        fewer: ids of further base tests that did not run, although others of the same functions pass. The
            code
            determines them, as in `parametrize("name", code.NAMES)`, and a person is asked; not in `lost`.
        idle: ids of base tests that run at the base and are skipped here.
        replaced: base tests with code that is not the base's, and its origin.
        altered: what tests use besides the code, and only the candidate's code changed.
        doubtful: what passing tests say nothing about, and a person is asked.
        compared: whether there was a base for comparison.
        self_written_only: whether the base has no tests.
        laid_over: files that were taken from the base although the candidate changed them.
        known: by id, why a failing test of the base does not count; these are no longer in `of_base`.
        endless: by id, why a test is not in the runs: it ends neither here nor at the base.
        left_out: by id, why a test is not in the runs: there is no time for it, here and at the base.
        doubted: by id, why a failure is no proof and a person is asked; these are no longer in the runs.
        ignored: files of missing modules that git ignores, each with the rule that says so.
        questions: questions for a person; if there are any, nothing else prevents a pass.
        second: the result of a second look at failing tests.
        counter: results of the base's tests with wrong expectations; None if that was not wanted.
        outside: results of the base's tests away from the candidate's process; None if that was not wanted.
        in_process: what happens to a pass without evidence from outside that process.
        unrun: which new statements ran in no test; None if that is unknown.
    """

    of_base: RunReport | None = None
    own: RunReport | None = None
    lost: Sequence[str] = ()
    fewer: Sequence[str] = ()
    idle: Sequence[str] = ()
    replaced: Sequence[str] = ()
    altered: Sequence[str] = ()
    doubtful: Sequence[str] = ()
    compared: bool = False
    self_written_only: bool = False
    laid_over: Sequence[str] = ()
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    endless: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    doubted: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored: Mapping[str, str] = field(default_factory=dict[str, str])
    questions: Sequence[Question] = ()
    second: SecondLook = field(default_factory=SecondLook)
    outside: OutsideReport | None = None
    counter: CounterReport | None = None
    in_process: InProcessOnly = InProcessOnly.NOTE
    unrun: UnrunCode | None = None

    @property
    def in_process_only(self) -> bool:
        """True if the base's tests are evidence only in the process of the candidate's code."""
        return self.of_base is not None and (self.outside is None or not self.outside.judged)

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """The existing runs, the base's tests first."""
        return tuple(each for each in (self.of_base, self.own) if each is not None)

    @property
    def report(self) -> RunReport:
        """Both runs as one."""
        first, *others = self.runs
        return _merged(first, others[0]) if others else first

    @property
    def ok(self) -> int:
        """Number of tests that passed, without those with an objectionable skip."""
        return sum(each.ok for each in self.report.tests.values())

    @property
    def total(self) -> int:
        """Number of tests and files that had to pass."""
        report = self.report
        bad = len(report.failures) + len(report.errors) + len(report.unfinished)
        return self.ok + bad + len(self.lost) + len(self.idle) + len(self.doubted)

    @property
    def all_well(self) -> bool:
        """True if nothing in the candidate's process prevents a pass."""
        clean = not (self.lost or self.idle or self.replaced)
        return clean and all(_is_clean(each) for each in self.runs)

    @property
    def score(self) -> float:
        """Passed of total; 0.0 if there was nothing."""
        return self.ok / self.total if self.total else 0.0

    def hangs_on(self, run: RunReport) -> bool:
        """Return True if only failing tests of this run prevent a pass."""
        others = [each for each in self.runs if each is not run]
        whole = run.ending is PytestEnding.COMPLETE and not (run.errors or run.forged or run.unfinished)
        clean = not (self.lost or self.idle or self.replaced)
        return whole and clean and all(_is_clean(each) for each in others)

    @property
    def hangs_on_base(self) -> bool:
        """Return True if only failing tests and files of the base prevent a pass."""
        run = self.of_base
        others = [each for each in self.runs if each is not run]
        clean = not (self.lost or self.idle or self.replaced) and all(_is_clean(each) for each in others)
        if run is None or not clean or not (run.failures or run.errors):
            return False
        return run.ending is PytestEnding.COMPLETE and run.canaries_ran and not (run.forged or run.unfinished)

    def counting_once(self) -> "JudgedRun":
        """Return a copy without the candidate's tests that fail exactly like the base's version.

        A changed file also holds unchanged tests. The base's version alone decides whether such a failure
        counts. A failure that passes when repeated does not count either, if the base's version passed at
        once.
        """
        if self.own is None or self.of_base is None:
            return self
        theirs = self.of_base.tests
        unread = {each.id: failure_words(each.message) for each in self.of_base.errors}
        twice = [
            each.id
            for each in self.own.failures
            if each.id in theirs and self._is_told(each, theirs[each.id])
        ]
        twice += [each.id for each in self.own.errors if unread.get(each.id) == failure_words(each.message)]
        return replace(self, own=self.own.without(twice)) if twice else self

    def _is_told(self, own: RanTest, of_base: RanTest) -> bool:
        if of_base.bad:
            # After very many failures, a run describes no more of them.
            return not (of_base.message and own.message) or fails_alike(of_base.message, own.message)
        return of_base.ok and own.id in self.second.flaky

    def metadata(self) -> dict[str, object]:
        """Return the figures and names for a result's metadata."""
        report = self.report
        counts = report.count()
        return {
            "passed_tests": self.ok,
            "failed_tests": len(report.failures),
            "total_tests": len(report.ids),
            "skipped_tests": counts[Outcome.SKIPPED] + counts[Outcome.XFAILED],
            "collection_errors": len(report.errors),
            "failing": [each.id for each in report.failures[:50]],
            "unreadable": [each.id for each in report.errors[:50]],
            "lost_tests": [*self.lost, *self.fewer][:50],
            "newly_skipped": list(self.idle[:50]),
            "compared_with_base": self.compared,
            "self_written_only": self.self_written_only,
            "base_tests": len(self.of_base.ids) if self.of_base else 0,
            "own_tests": len(self.own.ids) if self.own else 0,
            "laid_over": list(self.laid_over[:50]),
            "flaky": list(self.second.flaky),
            "failing_at_base": list(self.second.at_base[:50]),
            **({"doubted": dict(list(self.doubted.items())[:50])} if self.doubted else {}),
            **({"red_at_base": dict(list(self.known.items())[:50])} if self.known else {}),
            **({"left_out": len(self.left_out)} if self.left_out else {}),
            "forged": [*report.forged[:20], *self.replaced[:20]],
            **({"altered": list(self.altered[:50])} if self.altered else {}),
            **({"doubtful": list(self.doubtful[:50])} if self.doubtful else {}),
            **({"outside": self.outside.metadata()} if self.outside else {}),
            **({"counter_tests": self.counter.metadata()} if self.counter else {}),
            **({"new_code": self.unrun.metadata()} if self.unrun else {}),
            "ending": report.ending.value,
            "exit_code": report.code,
            "seconds": round(report.seconds, 3),
            "tool": "pytest",
        }


def _is_clean(run: RunReport) -> bool:
    complete = run.ending is PytestEnding.COMPLETE and run.canaries_ran
    return complete and not (run.failures or run.errors or run.unfinished or run.forged)


def _merged(one: RunReport, other: RunReport) -> RunReport:
    endings = [each.ending for each in (one, other) if each.ending is not PytestEnding.COMPLETE]
    worse = one if one.ending is not PytestEnding.COMPLETE or one.code else other
    return replace(
        one,
        ending=endings[0] if endings else PytestEnding.COMPLETE,
        code=worse.code,
        ids=tuple(dict.fromkeys((*one.ids, *other.ids))),
        places={**other.places, **one.places},
        tests=_worst(one.tests, other.tests),
        problems=tuple({each.id: each for each in (*one.problems, *other.problems)}.values()),
        deselected=one.deselected + other.deselected,
        forged=(*one.forged, *other.forged),
        canaries_ran=one.canaries_ran and other.canaries_ran,
        text="\n".join(each.text for each in sorted((one, other), key=lambda each: each is worse)),
        seconds=max(one.seconds, other.seconds),
    )


def _worst(one: Mapping[str, RanTest], other: Mapping[str, RanTest]) -> dict[str, RanTest]:
    """Merge two runs. A test in both counts as failed if it failed in either, else as in the first."""
    kept = {name: test for name, test in other.items() if name not in one or (test.bad and not one[name].bad)}
    return {**one, **kept}
