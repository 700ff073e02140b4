"""Says what it means for a result that tests were left out because they take too long. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.runners.evaluators.testing.at_base.slow import fails_at_base, is_red_too
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.running.report import Outcome, RanTest
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.schemas.questions import BaseFailures, Question, QuestionKind

_WHY = "a run of all tests would not end in time; evaluators.pytest.timeout in phaserunner.toml gives it more"
_MAY_STAND = "may the result stand without them?"
_ASKED_BY_FILE = 3
_LISTED = 20


def with_left_out(judged: JudgedRun, goal: Goal) -> JudgedRun:
    """Return the runs with the tests that were left out: as failures if all must pass, or else as doubts.

    Tests whose like fail at the base, those outside the goal's tests, and known failures are only noted.
    """
    if judged.of_base is None or not judged.left_out:
        return judged
    if goal.policy is BaseFailures.MUST_PASS:
        failed = {
            name: RanTest(name, Outcome.FAILED, 0.0, f"it {why}") for name, why in judged.left_out.items()
        }
        report = judged.of_base
        whole = replace(report, tests={**report.tests, **failed}, ids=(*report.ids, *failed))
        return replace(judged, of_base=whole)
    if goal.policy is BaseFailures.IGNORE or goal.tests:
        return judged
    doubted = {
        name: why for name, why in judged.left_out.items() if not (is_red_too(why) or goal.knows(name))
    }
    return replace(judged, doubted={**judged.doubted, **doubted})


def questions_about(judged: JudgedRun) -> list[Question]:
    """Return a question for each file of which tests were left out and doubted, or one for many files."""
    doubted = {name: judged.left_out[name] for name in judged.doubted if name in judged.left_out}
    files = _by_file(doubted)
    if len(files) <= _ASKED_BY_FILE:
        return [
            _question(file, f"{_tests(count)} of `{file}`", _in_file(doubted, file))
            for file, count in files.items()
        ]
    ran = sum(len(run.tests) for run in judged.runs)
    what = f"{_tests(len(doubted))} in {len(files)} files, from `{next(iter(files))}` on,"
    listed = ", ".join(sorted(files)[:_LISTED]) + (", …" if len(files) > _LISTED else "")
    return [_question("tests", what, doubted.values(), f"{_WHY}. {ran} ran. Left out are tests of {listed}")]


def _in_file(left_out: Mapping[str, str], file: str) -> list[str]:
    return [why for name, why in left_out.items() if file_of(name) == file]


def _question(about: str, what: str, reasons: Iterable[str], why: str = _WHY) -> Question:
    cause = "the base has no time for them either"
    if any(map(fails_at_base, reasons)):
        cause = "there is no time, and they fail at the base or it has no time either"
    text = f"{what} did not run, because {cause}: {_MAY_STAND}"
    return Question.about(about, QuestionKind.DOUBTFUL, text, why=why)


def notes_about(left_out: Mapping[str, str]) -> list[str]:
    """Return a sentence for each file of which tests were left out, or one for many files."""
    reds = [name for name, why in left_out.items() if is_red_too(why) or fails_at_base(why)]
    red = set(map(file_of, reds))
    files = _by_file(left_out)
    if len(files) <= _ASKED_BY_FILE:
        return [_note(f"{_tests(count)} of {file}", is_red=file in red) for file, count in files.items()]
    return [_note(f"{_tests(len(left_out))} in {len(files)} files", is_red=bool(red))]


def _note(what: str, *, is_red: bool) -> str:
    like = ", and tests like them fail there" if is_red else ""
    return f"{what} did not run: at the base, too, there is no time for them{like}."


def _by_file(names: Iterable[str]) -> Counter[str]:
    return Counter(map(file_of, names))


def _tests(count: int) -> str:
    return f"{count} test{'' if count == 1 else 's'}"
