"""Tests that were red before: which count, which do not, and which a human is asked about."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.touched import Touched, touched_files
from app.runners.evaluators.testing.pytest_runner.failures import BECAUSE
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    RanTest,
)
from app.runners.evaluators.testing.sorting.base_failures import (
    sort_errors,
    sort_failures,
)
from app.runners.evaluators.testing.sorting.endless_tests import sort_endless
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.schemas.questions import BaseFailures
from tests.unit.runners.evaluators.testing.red_support import (
    NAME,
    NO_CODE,
    PATH,
    TO_COME,
    WRONG_VALUE,
    written,
)


def sort(here: str, goal: Goal, at_base: str = "", code: BaseCode = NO_CODE):
    second = SecondLook(at_base=(NAME,), red={NAME: at_base or here})
    return sort_failures([RanTest(NAME, Outcome.FAILED, 0.1, here)], second, goal, code)


def calc(tree: Path) -> BaseCode:
    """Write a small project, and return its code."""
    written(tree, "calc.py", "class Calc:\n    def add(self, strict): ...\n")
    written(tree, "tests/test_a.py", "from calc import Calc\n")
    return BaseCode(tree, ["calc.py"])


def test_a_test_that_stays_red_as_it_was_is_a_question_when_the_goal_is_about_something_else() -> None:
    found = sort(WRONG_VALUE, Goal(words="Drop support for Python 3.8"))
    assert [each.id for each in found.questions] == [NAME]
    assert "the goal does not name it: tests/test_a.py:7" in found.questions[0].why
    assert not found.known


@pytest.mark.parametrize(
    "goal",
    [
        pytest.param(Goal(words="Make the tests pass"), id="about tests"),
        pytest.param(Goal(words="Mend the failing build"), id="about a failure"),
        pytest.param(Goal(words="mend test_a"), id="named in words"),
        pytest.param(Goal(), id="no goal at all"),
        pytest.param(Goal(tests=[NAME], words="Drop 3.8"), id="named by the starter"),
        pytest.param(Goal(BaseFailures.MUST_PASS, words="Drop 3.8"), id="all must pass"),
    ],
)
def test_a_red_test_that_the_goal_may_mean_counts(goal: Goal) -> None:
    found = sort(WRONG_VALUE, goal)
    assert not found.questions
    assert not found.known


@pytest.mark.parametrize(
    "words",
    ["Fix parsing of hours and add a test", "Add more unit tests", "Improve the tests", "Test coverage"],
)
def test_a_goal_that_wants_more_tests_is_not_about_those_that_fail(words: str) -> None:
    assert [each.id for each in sort(WRONG_VALUE, Goal(words=words)).questions] == [NAME]


@pytest.mark.parametrize(
    "words",
    [
        "Add tests and make the failing ones pass",
        "Write code for these tests",
        "Update a.py so that tests pass",
    ],
)
def test_a_goal_that_wants_tests_to_pass_is_about_those_that_fail(words: str) -> None:
    assert not sort(WRONG_VALUE, Goal(words=words)).questions


@pytest.mark.parametrize(
    "message",
    [
        "calc.py:7: NotImplementedError",
        "calc.py:7: NameError: name 'add' is not defined",
        "tests/test_a.py:7: AttributeError: module 'calc' has no attribute 'add'",
        "tests/test_a.py:7: AttributeError: type object 'Calc' has no attribute 'add'",
        "tests/test_a.py:7: TypeError: add() got an unexpected keyword argument 'exact'",
        "tests/test_a.py:7: TypeError: add() takes 2 positional arguments but 3 were given",
    ],
)
def test_a_test_that_waits_for_what_is_to_be_written_counts(message: str, tmp_path: Path) -> None:
    assert not sort(message, Goal(words="Add a strict mode"), code=calc(tmp_path)).questions


@pytest.mark.parametrize(
    "message",
    [
        "tests/test_a.py:7: NotImplementedError",
        "tests/test_a.py:7: AttributeError: type object 'Other' has no attribute 'add'",
        "tests/test_a.py:7: TypeError: patched.<locals>.add() takes 2 positional arguments but 6 were given",
        "tests/test_a.py:7: TypeError: Other.__init__() got an unexpected keyword argument 'strict'",
        "tests/test_a.py:7: ImportError: cannot import name 'soft' from 'markupsafe' (unknown location)",
        f"tests/test_a.py:7: KeyError: 1{BECAUSE}calc.py:1: NotImplementedError",
    ],
)
def test_a_test_that_waits_for_code_of_others_is_a_question(message: str, tmp_path: Path) -> None:
    assert sort(message, Goal(words="Add a strict mode"), code=calc(tmp_path)).questions


def test_an_argument_of_what_the_test_file_defines_is_not_for_the_run_to_write(tmp_path: Path) -> None:
    code = calc(tmp_path)
    message = "calc.py:9: TypeError: Calc.add() takes 1 positional argument but 2 were given"
    assert not sort(message, Goal(words="Round to cents"), code=code).questions
    written(tmp_path, "tests/test_a.py", "class Calc:\n    def add(self): ...\n")
    assert sort(message, Goal(words="Round to cents"), code=code).questions


def test_an_argument_that_the_project_takes_and_another_package_lacks_is_a_question(tmp_path: Path) -> None:
    message = "calc.py:9: TypeError: Calc.add() got an unexpected keyword argument 'strict'"
    assert sort(message, Goal(words="Round to cents"), code=calc(tmp_path)).questions
    other = message.replace("strict", "exact")
    assert not sort(other, Goal(words="Round to cents"), code=calc(tmp_path)).questions


def test_a_test_that_fails_in_another_way_than_before_counts() -> None:
    words = Goal(words="Drop support for Python 3.8")
    assert not sort("tests/test_a.py:7: KeyError: 'a'", words, at_base=WRONG_VALUE).questions


@pytest.mark.parametrize(
    ("at_base", "is_asked"),
    [
        pytest.param(
            "calc.py:8: >>> fetch()\nCalledProcessError: Command '['git', 'clone', 'https://a.b/c']' "
            "returned non-zero exit status 128.",
            True,
            id="no network",
        ),
        pytest.param(WRONG_VALUE, False, id="another value"),
    ],
)
def test_a_test_that_lacks_something_there_and_something_else_here_is_a_question(
    at_base: str, *, is_asked: bool
) -> None:
    # Its doctest now begins with `getfixture`, of a plug-in that only the change declares.
    here = "calc.py:7: FixtureLookupError: ('ensure_git', <FixtureRequest for <DoctestItem calc.add>>)"
    found = sort(here, Goal(words="Make the tests pass"), at_base=at_base)
    assert bool(found.questions) is is_asked
    assert not found.known


REFUSED = "/env/site-packages/kombu/connection.py:7: OperationalError: [Errno 111] Connection refused"
TIME_UP = "tests/test_a.py:7: Failed: Timeout (>5.0s) from pytest-timeout."


@pytest.mark.parametrize(
    ("here", "at_base", "is_asked"),
    [(REFUSED, TIME_UP, True), (TIME_UP, REFUSED, True), (TIME_UP, WRONG_VALUE, False)],
)
def test_a_test_that_waits_for_what_is_not_there_may_end_in_another_way(
    here: str, at_base: str, *, is_asked: bool
) -> None:
    found = sort(here, Goal(words="Make the tests pass"), at_base=at_base)
    assert bool(found.questions) is is_asked


def test_a_test_that_fails_in_different_ways_at_the_base_is_a_question_never_a_note(tmp_path: Path) -> None:
    other = "/env/lib/python3.11/json/__init__.py:1: AttributeError: module 'json' has no attribute 'x'"
    second = SecondLook(at_base=(NAME,), red={NAME: WRONG_VALUE}, varying=(NAME,))
    touched = Touched(tmp_path, frozenset({"calc.py"}))
    found = sort_failures(
        [RanTest(NAME, Outcome.FAILED, 0.1, other)], second, Goal(words="Drop support"), NO_CODE, touched
    )
    assert [each.id for each in found.questions] == [NAME]
    assert not found.known


@pytest.mark.parametrize("glob", [NAME, PATH, "tests/*", "*::test_a"])
def test_a_known_failure_of_the_project_is_only_noted(glob: str) -> None:
    found = sort(WRONG_VALUE, Goal(words="Drop support for Python 3.8", known=[glob]))
    assert "known failures" in found.known[NAME]
    assert not found.questions
    elsewhere = sort("tests/test_a.py:9: KeyError: 3", Goal(words="Sort", known=[glob]), WRONG_VALUE)
    assert NAME in elsewhere.known


@pytest.mark.parametrize(
    "goal",
    [
        Goal(BaseFailures.MUST_PASS, words="Sort", known=["*"]),
        Goal(tests=["tests/*"], known=["*"]),
        Goal(words="Let test_a.py pass", known=["*"]),
        Goal(words="Make the tests pass", known=["*"]),
        Goal(words="Sort", known=["tests/test_b.py"]),
    ],
    ids=["policy", "glob-of-the-goal", "goal-names-it", "goal-is-about-tests", "another-file"],
)
def test_a_known_failure_counts_where_the_run_should_fix_it(goal: Goal) -> None:
    assert NAME not in sort(WRONG_VALUE, goal).known


def test_a_known_failure_counts_as_soon_as_the_base_passes_it() -> None:
    test = RanTest(NAME, Outcome.FAILED, 0.1, WRONG_VALUE)
    found = sort_failures([test], SecondLook(), Goal(words="Sort", known=["*"]), NO_CODE)
    assert not found.known
    assert not found.questions


def test_a_known_file_that_cannot_be_read_and_a_known_test_that_never_ends_are_only_noted() -> None:
    goal = Goal(words="Sort", known=[PATH])
    here = "tests/test_a.py:1: ValueError: no"
    assert PATH in sort_errors([CollectProblem(PATH, False, here)], {PATH: here}, goal, NO_CODE).known
    assert NAME in sort_endless({NAME: "never ended"}, goal).known


@pytest.mark.parametrize(("module", "is_noted"), [("_pytest.assertion.util", True), ("calc.fast", False)])
def test_an_installed_module_without_an_attribute_is_of_another_version(
    tmp_path: Path, module: str, is_noted: bool
) -> None:
    (tmp_path / "calc").mkdir()
    message = f"tests/test_a.py:7: AttributeError: module '{module}' has no attribute 'add'"
    second = SecondLook(at_base=(NAME,), red={NAME: message})
    failing = [RanTest(NAME, Outcome.FAILED, 0.1, message)]
    found = sort_failures(failing, second, Goal(words="Type the spy"), BaseCode(tmp_path, ()))
    assert bool(found.known) is is_noted
    assert not found.questions


def test_a_test_that_the_change_plays_no_part_in_may_fail_in_another_way(tmp_path: Path) -> None:
    # Some fail by the order of tests, or by what else lies in the temporary directory.
    otherwise = "tests/test_a.py:9: TypeError: object of type 'NoneType' has no len()"
    found = sort_touched(tmp_path, "src/other.py", message=WRONG_VALUE, here=otherwise)
    assert ([each.id for each in found.questions], found.known) == ([NAME], {})
    assert "fails in another way: may it stay like that?" in found.questions[0].text


@pytest.mark.parametrize(
    ("touched", "words"),
    [
        pytest.param("calc.py", "Drop 3.8", id="the test imports what was changed"),
        pytest.param("src/other.py", "Make the tests pass", id="the goal is about tests"),
    ],
)
def test_another_failure_counts_where_the_change_may_have_caused_it(
    tmp_path: Path, touched: str, words: str
) -> None:
    otherwise = "tests/test_a.py:9: KeyError: 'a'"
    found = sort_touched(tmp_path, touched, words=words, message=WRONG_VALUE, here=otherwise)
    assert (found.questions, found.known) == ((), {})


@pytest.mark.parametrize(
    ("here", "is_asked"),
    [
        ("/env/site-packages/pool.py:519: pool.MaxRetryError: (Caused by SSLError)", True),
        ("/env/site-packages/pool.py:519: pool.PoolError: closed", False),
        ("calc.py:519: pool.MaxRetryError: (Caused by SSLError)", False),
    ],
)
def test_code_of_others_may_raise_the_same_exception_with_other_words(here: str, is_asked: bool) -> None:
    there = "/env/site-packages/pool.py:519: pool.MaxRetryError: (Caused by ConnectionResetError)"
    assert bool(sort(here, Goal(words="Drop 3.8"), at_base=there).questions) is is_asked


@pytest.mark.parametrize(
    ("here", "there", "is_asked"),
    [
        (
            f"{PATH}:39: RuntimeError: cannot import one",
            f"{PATH}:39: RuntimeError: cannot import other",
            True,
        ),
        (
            f"{PATH}:39: RuntimeError: cannot import one",
            f"{PATH}:40: RuntimeError: cannot import other",
            False,
        ),
        (f"{PATH}:39: ValueError: cannot import one", f"{PATH}:39: RuntimeError: cannot import other", False),
        ("calc.py:39: RuntimeError: one", "calc.py:39: RuntimeError: other", False),
        (f"{PATH}:39: AssertionError: 4", f"{PATH}:39: AssertionError: None", False),
        (f"{PATH}:39: Failed: nomatch: 'a'", f"{PATH}:39: Failed: nomatch: 'b'", False),
    ],
)
def test_a_line_of_the_test_may_raise_the_same_exception_with_other_words(
    here: str, there: str, is_asked: bool
) -> None:
    assert bool(sort(here, Goal(words="Drop 3.8"), at_base=there).questions) is is_asked


FAR_AWAY = "/usr/lib/python3.11/selectors.py:451: ResourceWarning: unclosed socket"


def sort_touched(
    tmp_path: Path,
    *touched: str,
    words: str = "Drop 3.8",
    files: tuple[str, ...] = (PATH,),
    message: str | None = None,
    here: str = "",
):
    (tmp_path / "tests").mkdir()
    (tmp_path / PATH).write_text("import calc\nfrom shop import prices\nfrom . import helpers\n")
    there = FAR_AWAY if message is None else message
    second = SecondLook(at_base=(NAME,), red={NAME: there}, red_files={NAME: files})
    failing = RanTest(NAME, Outcome.FAILED, 0.1, here or there, files)
    changed = Touched(tmp_path, frozenset(touched))
    return sort_failures([failing], second, Goal(words=words), NO_CODE, changed)


def test_a_red_test_that_the_change_does_not_touch_is_only_noted(tmp_path: Path) -> None:
    found = sort_touched(tmp_path, "src/other.py", "README.md")
    assert (found.questions, list(found.known)) == ((), [NAME])


def test_a_red_test_whose_failure_is_the_projects_own_is_never_passed_by_unasked(tmp_path: Path) -> None:
    # The run may be about it, although its name has no word of the goal and the change is somewhere else.
    found = sort_touched(tmp_path, "README.md", words="Round prices down", message=WRONG_VALUE)
    assert ([each.id for each in found.questions], found.known) == ([NAME], {})


@pytest.mark.parametrize("words", ["", "Make the failing tests pass"])
def test_a_goal_that_is_about_tests_leaves_no_red_one_aside(tmp_path: Path, words: str) -> None:
    assert not sort_touched(tmp_path, "README.md", words=words).known


@pytest.mark.parametrize(
    "touched",
    [PATH, "calc.py", "src/calc/__init__.py", "shop/prices.py", "src/shop/__init__.py", "tests/helpers.py"],
)
def test_a_red_test_that_may_have_to_do_with_the_change_is_a_question(tmp_path: Path, touched: str) -> None:
    assert [each.id for each in sort_touched(tmp_path, touched, "README.md").questions] == [NAME]


def test_files_in_the_traceback_count(tmp_path: Path) -> None:
    assert sort_touched(tmp_path, "deep.py", files=(PATH, "deep.py")).questions


def test_without_a_change_or_a_traceback_a_red_test_is_a_question(tmp_path: Path) -> None:
    assert sort_touched(tmp_path).questions


def test_an_unknown_traceback_leaves_a_question(tmp_path: Path) -> None:
    assert sort_touched(tmp_path, "other.py", files=()).questions


def test_a_word_of_the_goal_in_the_name_of_the_test_leaves_a_question(tmp_path: Path) -> None:
    name = "tests/test_a.py::test_rounding_of_totals"
    touched = Touched(tmp_path, frozenset({"other.py"}))
    assert touched.plays_a_part(name, [PATH], "Mend the rounding")
    assert not touched.plays_a_part(name, [PATH], "Mend the colours")


def test_touched_files_are_those_changed_added_and_removed(tmp_path: Path) -> None:
    trees = [tmp_path / "base", tmp_path / "candidate"]
    for tree, files in zip(
        trees, [{"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}], strict=True
    ):
        tree.mkdir()
        for name, text in files.items():
            (tree / name).write_text(text)
    assert touched_files(*trees).files == {"b", "c", "d"}


@pytest.mark.parametrize(
    ("second", "goal", "known"),
    [
        pytest.param(SecondLook(at_base=(NAME,)), Goal(), True, id="failed at the base, then passed"),
        pytest.param(SecondLook(flaky_at_base=(NAME,)), Goal(), True, id="in several runs"),
        pytest.param(SecondLook(flaky=(NAME,)), Goal(), False, id="flaky here only"),
        pytest.param(SecondLook(at_base=(NAME,)), Goal(words="mend test_a"), False, id="the goal names it"),
        pytest.param(SecondLook(at_base=(NAME,)), Goal(BaseFailures.MUST_PASS), False, id="all must pass"),
    ],
)
def test_a_test_that_is_flaky_at_the_base_does_not_count(second: SecondLook, goal: Goal, known: bool) -> None:
    found = sort_failures([RanTest(NAME, Outcome.FAILED, 0.1, WRONG_VALUE)], second, goal, NO_CODE)
    assert (NAME in found.known) is known


EXPLAINED = f"{WRONG_VALUE}\n  +  where 3 = f(Attribute(name='x', alias=None))\n  +    where f = <f at 0x7f>"


def test_what_pytest_explains_of_an_assertion_may_change() -> None:
    words = Goal(words="Give attributes an alias")
    there = EXPLAINED.replace(", alias=None", "")
    assert [each.id for each in sort(EXPLAINED, words, at_base=there).questions] == [NAME]
    other = EXPLAINED.replace("assert 3 == 4", "assert 5 == 4")
    assert not sort(other, words, at_base=there).questions


UNREAD = "tests/test_a.py::TestA"
VERSIONS = (
    "/x/lib/python3.11/site-packages/_pytest/mark.py:202: pytest.PytestRemovedIn10Warning: Passing a "
    "non-Collection iterable to parametrize is deprecated."
)
BROKEN = "tests/test_a.py:3: ValueError: no rows"
NAMELESS = "tests/test_a.py:3: NameError: name 'KeyVaultSecret' is not defined"


@pytest.mark.parametrize(
    ("message", "at_base", "goal", "known", "asked"),
    [
        pytest.param(VERSIONS, VERSIONS, Goal(words="Drop 3.8"), 1, 0, id="other versions"),
        pytest.param(BROKEN, BROKEN, Goal(words="Drop 3.8"), 0, 1, id="the project's own fault"),
        pytest.param(NAMELESS, NAMELESS, Goal(words="Drop 3.8"), 0, 1, id="what a missing package has"),
        pytest.param(TO_COME, TO_COME, Goal(words="Drop 3.8"), 0, 0, id="it waits for what is to come"),
        pytest.param(BROKEN, BROKEN, Goal(words="Mend the tests"), 0, 0, id="the goal is about tests"),
        pytest.param(BROKEN, BROKEN, Goal(tests=["tests/test_b.py"]), 1, 0, id="others are the goal"),
        pytest.param(BROKEN, BROKEN, Goal(tests=[UNREAD], words="x"), 0, 0, id="it is the goal"),
        pytest.param(BROKEN, BROKEN, Goal(BaseFailures.IGNORE), 1, 0, id="ignored"),
        pytest.param(VERSIONS, VERSIONS, Goal(BaseFailures.MUST_PASS), 0, 0, id="all must pass"),
        pytest.param(BROKEN, VERSIONS, Goal(words="Drop 3.8"), 0, 0, id="another error"),
        pytest.param(VERSIONS, None, Goal(words="Drop 3.8"), 0, 0, id="the base can read it"),
    ],
)
def test_what_the_base_cannot_read_either(
    message: str, at_base: str | None, goal: Goal, known: int, asked: int, tmp_path: Path
) -> None:
    written(tmp_path, "tests/test_a.py", "from calc import add\n")
    written(tmp_path, "calc.py", "")
    there = {} if at_base is None else {UNREAD: at_base}
    found = sort_errors(
        [CollectProblem(UNREAD, skipped=False, message=message)], there, goal, BaseCode(tmp_path, ["calc.py"])
    )
    assert (len(found.known), len(found.questions)) == (known, asked)


OFFLINE = "/usr/lib/python3.11/urllib/request.py:1351: urllib.error.URLError: name resolution"


def sort_offline(goal: Goal, *through: str):
    lacks = {NAME: "the tests have no network"}
    second = SecondLook(at_base=(NAME,), red={NAME: OFFLINE}, environment=lacks, red_files={NAME: through})
    return sort_failures([RanTest(NAME, Outcome.FAILED, 0.1, OFFLINE, through)], second, goal, NO_CODE)


def test_what_the_machine_lacks_is_a_question_in_a_file_that_the_goal_names() -> None:
    found = sort_offline(Goal(words="Let size in pages.py be 0 without a network"), PATH, "src/pages.py")
    assert [each.id for each in found.questions] == [NAME]
    assert not found.known


@pytest.mark.parametrize(
    ("goal", "through"),
    [
        pytest.param(Goal(words="Sort the pages"), (PATH, "src/pages.py"), id="no file is named"),
        pytest.param(Goal(words="Sort all-pages.py2"), (PATH, "src/pages.py"), id="another file is named"),
        pytest.param(Goal(words="Mend pages.py"), (PATH,), id="the file plays no part"),
        pytest.param(Goal(BaseFailures.IGNORE, words="Mend pages.py"), (PATH, "pages.py"), id="ignored"),
        pytest.param(
            Goal(tests=["x"], words="Mend pages.py"), (PATH, "pages.py"), id="other tests are named"
        ),
    ],
)
def test_what_the_machine_lacks_is_only_noted_elsewhere(goal: Goal, through: tuple[str, ...]) -> None:
    found = sort_offline(goal, *through)
    assert (list(found.known), found.questions) == ([NAME], ())


NO_PLUGIN = (
    "/env/lib/python3.11/site-packages/_pytest/python.py:148: PytestUnhandledCoroutineWarning: async def"
)


@pytest.mark.parametrize(
    ("here", "asked"),
    [
        pytest.param(NO_PLUGIN, True, id="fails outside the project, as its neighbour did"),
        pytest.param("calc.py:3: ValueError: async def", False, id="fails in the project"),
    ],
)
def test_a_red_test_that_gets_further_and_then_fails_like_another_is_a_question(
    here: str, asked: bool
) -> None:
    other = f"{PATH}::test_other"
    second = SecondLook(
        at_base=(NAME,), red={NAME: "/env/site-packages/web.py:2: AppKeyWarning", other: here}
    )
    found = sort_failures([RanTest(NAME, Outcome.FAILED, 0.1, here)], second, Goal(words="Use keys"), NO_CODE)
    assert bool(found.questions) is asked


def test_a_test_that_lacks_its_own_names_is_only_noted(tmp_path: Path) -> None:
    written(tmp_path, "tests/test_a.py", "import calc\n")
    slip = "tests/test_a.py:7: NameError: name 'text_' is not defined"
    second = SecondLook(at_base=(NAME,), red={NAME: slip})
    failing = [RanTest(NAME, Outcome.FAILED, 0.1, slip)]
    code = BaseCode(tmp_path, ["calc.py"])
    found = sort_failures(failing, second, Goal(words="Merge a branch"), code)
    assert "a name that it does not define" in found.known[NAME]
    assert not sort_failures(failing, second, Goal(words="Fix test_a"), code).known


def test_an_example_of_a_document_that_lacks_a_name_is_only_noted(tmp_path: Path) -> None:
    written(tmp_path, "docs/models.rst", ">>> from app.models import Sample\n\n>>> Sample(1)\n")
    name = "docs/models.rst::line:3,column:1"
    slip = "Example at docs/models.rst, line 3, column 1: NameError: name 'Sample' is not defined"
    second = SecondLook(at_base=(name,), red={name: slip})
    failing = [RanTest(name, Outcome.FAILED, 0.1, slip)]
    found = sort_failures(failing, second, Goal(words="Merge"), BaseCode(tmp_path, ["calc.py"]))
    assert "a name that it does not define" in found.known[name]
