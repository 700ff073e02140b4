"""Failing tests that are no proof against a candidate, because the gate's setting may be at fault. Pure.

A failure proves something only if another run repeats it, and if the environment has what the test needs.
Otherwise a person is asked: nothing passes by that, and no attempt is used up. There are three kinds:

- *unsteady*: the test failed, and passed alone and in a second whole run of the same code. If its failure
  depends on time alone, as when a connection broke, passing alone is enough;
- *lacking*: a test that the candidate wrote cannot run without a package or a part of the machine;
- *as before*: such a test fails with the same message as base tests on the base's own code, or it is another
  version of a base test that fails there, or an unchanged test of a file that only now loads, or all base
  tests in its class or file fail here and there. A test of the base, too, may fail with the message of one
  beside it, in the same line of a helper of the tests, or in other people's code because the machine lacks
  the same. Or pytest blames what is collected as garbage on it, where the base's tests leave the same
  garbage.

No failure is removed from untrusted runs. If no test of the base passes, only failures in other people's code
are removed, such as for want of a server, and only if the base's tests fail in the same words.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.running.failure_words import failure_words
from app.runners.evaluators.testing.running.garbage import SEVERAL, garbage_in
from app.runners.evaluators.testing.running.machine_words import missing_on_machine
from app.runners.evaluators.testing.running.report import PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.sorting.base_failures import is_assertion, is_elsewhere
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.schemas.questions import FEW_QUESTIONS, MAX_QUESTIONS, Question, QuestionKind

_UNSTEADY = "it failed once and passed alone, and also passed in a second whole run or failed by time alone"
_AS_BEFORE = "it fails in the same words as tests that failed before anything was done"
_LIKE_ONE_BESIDE = "it fails like a test beside it that failed before anything was done"
_BLAMED = "only for garbage such as the base's tests leave, too"
_SO_BEFORE = "this test, or the base's version of it, also fails on the base's code"
_BESIDE = "all tests beside it failed before anything was done, and fail on this code, too"
_MESSAGE_CHARS = 500
_WHY_CHARS = 1000
_NAMED = 3
_SEVERAL_TESTS = 3
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_HELPER_LINE = re.compile(r"(?P<file>(?:[^\s:/<][^\s:]*/)?(?:conftest\.py|tests?/[^\s:]+)):\d+(?=: )")
"""The line of a failure in a file of the tests' setting, not in the code under test."""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Failures about which a person is asked.

    Attributes:
        of_base: by id of a base test, why its failure is no proof.
        own: the same for tests and files that the candidate added or changed.
        messages: of the failures, by id.
    """

    of_base: Mapping[str, str] = field(default_factory=dict[str, str])
    own: Mapping[str, str] = field(default_factory=dict[str, str])
    messages: Mapping[str, str] = field(default_factory=dict[str, str])

    def __bool__(self) -> bool:
        return bool(self.of_base or self.own)

    def taken_from(self, judged: JudgedRun) -> JudgedRun:
        """Return the runs without the doubtful failures. The result still does not pass."""
        of_base = judged.of_base.without(self.of_base) if judged.of_base else None
        own = judged.own.without(self.own) if judged.own else None
        return replace(
            judged, of_base=of_base, own=own, doubted={**judged.doubted, **self.own, **self.of_base}
        )

    def questions(self) -> list[Question]:
        """Return a question about each failure.

        Many become one question, with a key that covers all of them. So do tests that are blamed for garbage,
        with a key that covers whichever test is blamed next time.
        """
        every = {**self.own, **self.of_base}
        blamed = [name for name, why in every.items() if why == _BLAMED]
        if not blamed:
            return self._one_by_one(every)
        names = f"`{blamed[0]}`" + (f" and {len(blamed) - 1} more" if len(blamed) > 1 else "")
        text = f"{names} failed, but {_BLAMED}: may that be?"
        message = self.messages[blamed[0]]
        one = Question.about("tests", QuestionKind.DOUBTFUL, text, why=message, after=_BLAMED)
        return [one, *self._one_by_one({name: why for name, why in every.items() if why != _BLAMED})]

    def _one_by_one(self, every: Mapping[str, str]) -> list[Question]:
        """Return a question about each failure, or one for each reason if they are many."""
        asked = [self._about(name, why) for name, why in every.items()]
        if len(asked) <= FEW_QUESTIONS:
            return asked
        reasons = list(dict.fromkeys(every.values()))
        groups = [[each for each in asked if every[each.id] == reason] for reason in reasons]
        if len(groups) > FEW_QUESTIONS:
            groups, reasons = [asked], ["the setting may be at fault"]
        return [
            group[0] if len(group) == 1 else self._about_all(group, reason)
            for group, reason in zip(groups, reasons, strict=True)
        ]

    def _about_all(self, questions: Sequence[Question], reason: str) -> Question:
        """Return one question, with a key that covers those of others.

        If it is about very many, the key covers which tests fail and why, not how: that may vary among them.
        """
        names = ", ".join(f"`{each.id}`" for each in questions[:_NAMED])
        text = f"{len(questions)} tests failed, such as {names}, but {reason}: may that be?"
        why = "; ".join(dict.fromkeys(each.why for each in questions))[:_WHY_CHARS]
        ids = "\n".join(sorted(each.id for each in questions))
        question = Question.about("tests", QuestionKind.DOUBTFUL, text, why=why, after=f"{reason}\n{ids}")
        return question if len(questions) > MAX_QUESTIONS else question.standing_for(questions)

    def _about(self, name: str, why: str) -> Question:
        message = " ".join(self.messages[name].split())[:_MESSAGE_CHARS]
        text = f"`{name}` failed, but {why}: may that be?"
        return Question.about(
            name, QuestionKind.DOUBTFUL, text, why=message or why, after=f"{why}\n{issue_key(message)}"
        )


def doubts_about(judged: JudgedRun, lacking: Mapping[str, str]) -> Doubts:
    """Return which failures are no proof.

    Args:
        judged: the runs, without the failures that also occur at the base and do not count.
        lacking: by id of the candidate's own tests and files, what the environment lacks for them.
    """
    of_base, own = judged.of_base, judged.own
    if of_base is None:
        return Doubts()
    is_trusted = own is not None and _is_sound(own)
    if not any(each.ok for each in of_base.tests.values()):
        return _elsewhere(own, judged.second.red) if own is not None and is_trusted else Doubts()
    unsteady = set(judged.second.unsteady)
    mine: dict[str, str] = {}
    if own is not None and is_trusted:
        red = judged.second.red
        before = _WordsBefore(red.values())
        hopeless = _all_red(of_base, red)
        for test in own.failures:
            if why := _why(test, lacking, unsteady, before) or (_SO_BEFORE if test.id in red else ""):
                mine[test.id] = why
            elif _scope(test.id) in hopeless:
                mine[test.id] = _BESIDE
        mine |= {each.id: _needs(lacking[each.id]) for each in own.errors if each.id in lacking}
    theirs = {each.id: _UNSTEADY for each in of_base.failures if each.id in unsteady}
    shared = {_place(name, message) for name, message in judged.second.red.items()} - {None}
    if any(map(garbage_in, judged.second.red.values())):
        shared.add(("", "", SEVERAL))
    green = [each for each in of_base.failures if each.id not in judged.second.red]
    alike = [each for each in green if _place(each.id, each.message) in shared]
    theirs |= {each.id: _BLAMED if garbage_in(each.message) else _LIKE_ONE_BESIDE for each in alike}
    failed = [
        *of_base.failures,
        *of_base.errors,
        *(own.failures if own else ()),
        *(own.errors if own else ()),
    ]
    messages = {each.id: each.message for each in failed if each.id in theirs or each.id in mine}
    return Doubts(theirs if _is_sound(of_base) else {}, mine, messages)


def _elsewhere(own: RunReport, red: Mapping[str, str]) -> Doubts:
    """Return the candidate's own failing tests that fail in other people's code, as those of the base do."""
    before = {failure_words(each) for each in red.values()}
    failures = [*own.failures, *own.errors]
    found = [
        each for each in failures if is_elsewhere(each.message) and failure_words(each.message) in before
    ]
    return Doubts(
        own={each.id: _AS_BEFORE for each in found}, messages={each.id: each.message for each in found}
    )


def _why(test: RanTest, lacking: Mapping[str, str], unsteady: set[str], before: "_WordsBefore") -> str:
    if test.id in unsteady:
        return _UNSTEADY
    if test.id in lacking:
        return _needs(lacking[test.id])
    return _AS_BEFORE if before.hold(test.message) else ""


class _WordsBefore:
    """How tests failed before anything was done.

    If several raised the same exception in other people's code, with other names in quotes, a further test
    may do so with one more name: "No translation file found for domain: 'AF'".

    Args:
        messages: of their failures.
    """

    def __init__(self, messages: Collection[str]) -> None:
        self._words = set(map(failure_words, messages))
        kinds = Counter(_without_names(each) for each in messages if _is_raised_elsewhere(each))
        self._kinds = {kind for kind, count in kinds.items() if count >= _SEVERAL_TESTS}

    def hold(self, message: str) -> bool:
        """Return True if a test failed like one before."""
        if not message:
            return False
        is_of_kind = _is_raised_elsewhere(message) and _without_names(message) in self._kinds
        return failure_words(message) in self._words or is_of_kind


def _is_raised_elsewhere(message: str) -> bool:
    return is_elsewhere(message) and not is_assertion(message)


def _without_names(message: str) -> str:
    return _QUOTED.sub("'…'", failure_words(message))


def _all_red(of_base: RunReport, red: Collection[str]) -> set[str]:
    """Return the classes and files in which each base test fails, on both codes.

    Nothing is known of a file that the candidate's code cannot load.
    """
    scopes = {_scope(each.id) for each in of_base.tests.values() if each.id in red}
    return scopes.difference(_scope(each.id) for each in of_base.tests.values() if each.id not in red)


def _scope(test_id: str) -> str:
    return function_of(test_id).rpartition("::")[0]


def _place(test_id: str, message: str) -> tuple[str, str, str] | None:
    """Return where and how a test failed outside its own file, for instance when a helper cleaned up.

    What the machine lacks can show in other people's code in many words, with ports and addresses in them. No
    test has a place among those that get the blame for garbage.
    """
    if garbage := garbage_in(message):
        return "", "", garbage
    lacks = missing_on_machine(message) if is_elsewhere(message) else None
    if lacks is not None:
        return _scope(test_id), "", lacks
    found = _HELPER_LINE.match(message)
    if found is None or found["file"] == file_of(test_id):
        return None
    return _scope(test_id), found.group(), failure_words(message)


def _needs(what: str) -> str:
    return f"it could not run here: {what}"


def _is_sound(run: RunReport) -> bool:
    return run.ending is PytestEnding.COMPLETE and not (run.forged or run.unfinished) and run.canaries_ran
