"""Failures that are no proof: the setting may be at fault, and a person is asked. What is proof fails."""

import re
from dataclasses import dataclass, field, replace

import pytest

from app.runners.evaluators.testing.feedback import result_of
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    PytestEnding,
    RanTest,
    RunReport,
)
from app.runners.evaluators.testing.sorting.again import steadied
from app.runners.evaluators.testing.sorting.doubts import doubts_about
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.runners.evaluators.verdict import VerdictStatus, judge
from app.schemas.questions import FEW_QUESTIONS, MAX_QUESTIONS, BaseFailures, Question
from tests.unit.runners.evaluators.testing.gate_support import GOOD, run


def ran(
    messages: dict[str, str] | None = None, ending: PytestEnding = PytestEnding.COMPLETE, **outcomes: str
) -> RunReport:
    said = messages or {}
    tests = {
        name: RanTest(name, Outcome(outcome), 0.1, said.get(name, "")) for name, outcome in outcomes.items()
    }
    code = int(any(each.bad for each in tests.values()))
    return RunReport(ending, code=code, ids=tuple(tests), tests=tests)


UNSTEADY = SecondLook(flaky=("b",), unsteady=("b",))


def test_what_fails_once_and_passes_twice_is_a_question() -> None:
    judged = JudgedRun(of_base=ran(a="passed", b="failed"), second=UNSTEADY, compared=True)
    doubts = doubts_about(judged, {})
    assert "second whole run" in doubts.of_base["b"]
    left = doubts.taken_from(judged)
    assert left.all_well
    result = result_of(PytestEvaluator(), replace(left, questions=doubts.questions()))
    assert (result.status, [each.id for each in result.questions]) == ("failed", ["b"])
    assert "1 failure may be the setting's fault" in result.feedback
    assert result.metadata["doubted"] == dict(doubts.of_base)


@pytest.mark.parametrize(
    "judged",
    [
        pytest.param(
            JudgedRun(of_base=ran(a="passed", b="failed"), second=SecondLook(flaky=("b",))),
            id="it fails in every whole run: order matters",
        ),
        pytest.param(JudgedRun(of_base=ran(b="failed"), second=UNSTEADY), id="no test of the base passes"),
        pytest.param(
            JudgedRun(
                of_base=replace(ran(a="passed", b="failed"), forged=("pytest was patched",)), second=UNSTEADY
            ),
            id="the run cannot be believed",
        ),
        pytest.param(
            JudgedRun(of_base=replace(ran(a="passed", b="failed"), canaries_ran=False), second=UNSTEADY),
            id="its control tests did not run",
        ),
        pytest.param(JudgedRun(own=ran(a="passed", b="failed"), second=UNSTEADY), id="there is no base"),
    ],
)
def test_what_is_proof(judged: JudgedRun) -> None:
    assert not doubts_about(judged, {})


_NO_FILE = "/usr/lib/python3.11/gettext.py:528: FileNotFoundError: No translation file for domain: '{}'"
_DIFFERS = "/usr/lib/python3.11/unittest/case.py:715: AssertionError: '{}' != 'a'"


@pytest.mark.parametrize(
    ("message", "domains", "is_asked"),
    [
        pytest.param(_NO_FILE, "ABC", True, id="several lacked such a file"),
        pytest.param(_NO_FILE, "AB", False, id="two are too few"),
        pytest.param("calc.py:2: KeyError: '{}'", "ABC", False, id="in the project's own code"),
        pytest.param(_DIFFERS, "ABC", False, id="an assertion says what is wrong"),
    ],
)
def test_own_tests_that_lack_one_more_of_what_several_lacked(
    message: str, domains: str, is_asked: bool
) -> None:
    red = {each: message.format(each) for each in domains}
    judged = JudgedRun(
        of_base=ran(red, ok="passed", **dict.fromkeys(domains, "failed")),
        own=ran({"new": message.format("X")}, new="failed"),
        second=SecondLook(red=red),
        compared=True,
    )
    assert bool(doubts_about(judged, {}).own) is is_asked


def test_own_tests_are_in_doubt_for_what_they_lack_and_what_was_so_before() -> None:
    words = {"c": "tests/x.py:3: OSError: no socket", "d": "calc.py:2: KeyError: 'x'", "e": "E"}
    own = replace(
        ran(words, c="failed", d="failed", e="failed"),
        problems=(CollectProblem("tests/test_y.py", skipped=False, message="No module named 'yaml'"),),
    )
    red = {"a": "tests/x.py:90: OSError: no socket"}
    judged = JudgedRun(of_base=ran(z="passed"), own=own, second=SecondLook(red=red))
    doubts = doubts_about(judged, {"e": "a program is missing", "tests/test_y.py": "yaml is not installed"})
    assert set(doubts.own) == {"c", "e", "tests/test_y.py"}
    # One failure that no doubt explains, and the whole is a failure.
    assert not doubts.taken_from(judged).all_well


def test_a_new_version_of_a_test_that_failed_before_is_in_doubt() -> None:
    of_base = ran(z="passed")
    own = ran({"a": "tests/x.py:9: other words", "b": "tests/x.py:9: other words"}, a="failed", b="failed")
    judged = JudgedRun(of_base=of_base, own=own, second=SecondLook(red={"a": "tests/x.py:3: OSError"}))
    assert set(doubts_about(judged, {}).own) == {"a"}


@pytest.mark.parametrize("beside", ["passed", "failed"])
def test_a_new_test_in_a_class_that_failed_as_a_whole_is_in_doubt(beside: str) -> None:
    old = {"t.py::TestIt::test_a": "failed", "t.py::TestIt::test_b": beside}
    of_base = ran(None, **{"t.py::test_z": "passed", **old})
    red = {name: "t.py:3: OSError" for name, outcome in old.items() if outcome == "failed"}
    new = {"t.py::TestIt::test_new": "failed", "t.py::TestOther::test_new": "failed"}
    own = ran(dict.fromkeys(new, "t.py:9: AssertionError: 3"), **new)
    judged = JudgedRun(of_base=of_base, own=own, second=SecondLook(red=red))
    doubted = {"t.py::TestIt::test_new"} if beside == "failed" else set[str]()
    assert set(doubts_about(judged, {}).own) == doubted


def test_where_no_test_passes_only_failures_of_other_people_s_code_are_in_doubt() -> None:
    refused = "/env/site-packages/redis/connection.py:363: redis.ConnectionError: refused"
    plain = "tests/x.py:3: AssertionError: assert 1 == 2"
    red = {"a": refused, "b": plain}
    own = ran({"c": refused, "d": plain, "e": refused.replace("refused", "reset")}, c="failed", d="failed")
    of_base = ran(red, a="failed", b="failed")
    judged = JudgedRun(of_base=of_base, own=own, second=SecondLook(red=red))
    doubts = doubts_about(judged, {})
    assert (set(doubts.own), dict(doubts.of_base)) == ({"c"}, {})
    assert not doubts_about(replace(judged, second=SecondLook()), {})
    assert not doubts_about(replace(judged, own=replace(own, forged=("pytest was patched",))), {})


def test_many_doubts_of_one_kind_are_one_question() -> None:
    names = [f"t{each}" for each in range(FEW_QUESTIONS + 1)]
    of_base = ran(a="passed", **dict.fromkeys(names, "failed"))
    judged = JudgedRun(of_base=of_base, second=SecondLook(flaky=tuple(names), unsteady=tuple(names)))
    (question,) = doubts_about(judged, {}).questions()
    assert f"{FEW_QUESTIONS + 1} tests failed, such as `t0`, `t1`, `t2`, but it failed once" in question.text
    own = ran(b="error")
    judged = replace(judged, own=own)
    both = doubts_about(judged, {"b": "no server"}).questions()
    assert [each.id for each in both] == ["b", "tests"]
    many = [f"u{each}" for each in range(FEW_QUESTIONS)]
    judged = replace(judged, own=ran(**dict.fromkeys(many, "error")))
    (question,) = doubts_about(judged, {each: f"no {each}" for each in many}).questions()
    assert f"{len(names) + len(many)} tests failed" in question.text


@pytest.mark.parametrize(("number", "same"), [(FEW_QUESTIONS + 1, False), (MAX_QUESTIONS + 1, True)])
def test_an_acceptance_of_many_doubts_covers_how_they_fail_unless_they_are_very_many(
    number: int, same: bool
) -> None:
    names = [f"t{each}" for each in range(number)]

    def key(message: str) -> str:
        of_base = ran({"t0": message}, a="passed", **dict.fromkeys(names, "failed"))
        judged = JudgedRun(of_base=of_base, second=SecondLook(flaky=tuple(names), unsteady=tuple(names)))
        (question,) = doubts_about(judged, {}).questions()
        return question.key

    assert (key("OSError: reset") == key("ValueError: wrong")) is same


@dataclass
class Script:
    """Gives one report after the other, and counts."""

    reports: list[RunReport]
    runs: list[RunTree] = field(default_factory=list)

    async def run(self, tree: RunTree, **_: object) -> RunReport:
        self.runs.append(tree)
        return self.reports.pop(0)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("again", "unsteady"),
    [
        pytest.param(ran(a="passed", b="passed"), ("b",), id="it passes in the second whole run"),
        pytest.param(ran(a="passed", b="failed"), (), id="it fails in both: it depends on the others"),
        pytest.param(ran(b="passed", ending=PytestEnding.TORN), (), id="the second run did not end"),
    ],
)
async def test_a_second_whole_run_tells_chance_from_order(
    again: RunReport, unsteady: tuple[str, ...]
) -> None:
    script, tree = Script([again]), RunTree({})
    found = await steadied(script, tree, ran(a="passed", b="failed"), SecondLook(flaky=("b",)))
    assert (found.unsteady, script.runs) == (unsteady, [tree])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("message", "unsteady"),
    [
        ("client.py:9: BrokenPipeError: [Errno 32] Broken pipe", ("b",)),
        ("warning.py:9: pytest.PytestUnraisableExceptionWarning: in: <socket.socket fd=22>", ("b",)),
        ("config.py:81: ExceptionGroup: multiple unraisable exception warnings (2 sub-exceptions)", ("b",)),
        ("a.py:1: assert 1 == 2", ()),
    ],
)
async def test_what_depends_on_time_is_chance_in_any_order(message: str, unsteady: tuple[str, ...]) -> None:
    report = ran({"b": message}, a="passed", b="failed")
    script = Script([ran(a="passed", b="failed")])
    found = await steadied(script, RunTree({}), report, SecondLook(flaky=("b",)))
    assert found.unsteady == unsteady


@pytest.mark.anyio
async def test_nothing_runs_again_where_another_failure_decides() -> None:
    script = Script([])
    report, second = ran(a="failed", b="failed"), SecondLook(flaky=("b",))
    assert await steadied(script, RunTree({}), report, second) == second
    known = SecondLook(flaky=("b",), flaky_at_base=("b",), red={"a": ""})
    script = Script([ran(a="failed", b="passed")])
    assert (await steadied(script, RunTree({}), report, known)).unsteady == ()


REQUIREMENTS = {"requirements-dev.txt": "pytest\nnot-there-at-all\n"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("module", "asks"),
    [
        pytest.param("not_there_at_all", True, id="a package that the project declares"),
        pytest.param("unwritten", False, id="a module that the agent was to write"),
    ],
)
async def test_an_own_test_that_cannot_be_read(context, module: str, asks: bool) -> None:
    base = {**GOOD, **REQUIREMENTS, "tests/test_ok.py": "def test_ok(): ...\n"}
    files = {**base, "tests/test_new.py": f"import {module}\n\n\ndef test_new():\n    assert {module}\n"}
    result = await run(context, files, base, outside=False)
    assert result.status == "failed", result.feedback
    assert [each.id for each in result.questions] == (["tests/test_new.py"] if asks else []), result.feedback
    # The rest is judged all the same.
    wrong = {**files, "calc.py": GOOD["calc.py"].replace("+", "-")}
    refused = await run(context, wrong, base, outside=False)
    assert (refused.status, refused.questions) == ("failed", [])


WAITS = {**GOOD, "tests/test_wait.py": "import time\n\n\ndef test_wait():\n    time.sleep(600)\n"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "given", "status"),
    [
        pytest.param({"other.py": ""}, {"goal": "Add a module"}, "asks", id="the others pass"),
        pytest.param({"tests/test_wait.py": "def test_wait(): ...\n"}, {}, "asks", id="its new version ends"),
        pytest.param({}, {"base_failures": BaseFailures.IGNORE}, "passed", id="what is red does not matter"),
        pytest.param({}, {"goal_tests": ["*::test_add"]}, "passed", id="another one is the goal"),
        pytest.param({}, {"goal_tests": ["*::test_wait"]}, "failed", id="it is the goal"),
        pytest.param({}, {"goal": "Let test_wait end"}, "failed", id="the goal names it"),
        pytest.param({}, {"base_failures": BaseFailures.MUST_PASS}, "failed", id="all must pass"),
        pytest.param({"calc.py": GOOD["calc.py"].replace("+", "-")}, {}, "failed", id="another one fails"),
    ],
)
async def test_the_rest_is_judged_without_a_test_that_never_ends(
    context, changes, given, status: str
) -> None:
    # Not a limit of the run, which a busy machine may need. Silence ends the test.
    gate = PytestEvaluator(timeout=5.0, outside=False)
    result = await gate.evaluate("coding", "", {**context({**WAITS, **changes}, WAITS), **given})
    assert judge([result], [result.evaluator_name]).status is VerdictStatus(status), result.feedback
    assert "tests/test_wait.py::test_wait" in f"{result.feedback} {result.suggestions}"
    if status == "asks":
        assert [each.kind for each in result.questions] == ["red_at_base"]
        assert re.search(r"does not end within \d+ seconds in the base either", result.questions[0].text)


CONFTEST = "import pytest\n\nfrom calc import add\n\n\n@pytest.fixture\ndef three():\n    return add(1, 2)\n"
FIXED = {
    **GOOD,
    "tests/conftest.py": CONFTEST,
    "tests/test_three.py": "def test_three(three):\n    assert three == 3\n",
}
RENAMED = {
    "calc.py": "def plus(a, b):\n    return a + b\n",
    "tests/conftest.py": CONFTEST.replace("add", "plus"),
    "tests/test_calc.py": GOOD["tests/test_calc.py"]
    .replace("add(", "plus(")
    .replace("import add", "import plus"),
}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        pytest.param(RENAMED, True, id="the changed conftest loads, and all tests pass"),
        pytest.param({"calc.py": RENAMED["calc.py"]}, False, id="the conftest was left alone"),
        pytest.param(
            {**RENAMED, "calc.py": RENAMED["calc.py"].replace("+", "-")}, False, id="the code is wrong"
        ),
    ],
)
async def test_a_conftest_that_the_code_outgrew_is_asked_about(context, changes, asked: bool) -> None:
    result = await run(context, {**FIXED, **changes}, FIXED, outside=False)
    assert result.status == "failed", result.feedback
    assert bool(result.questions) is asked, result.feedback
    if asked:
        assert "tests/conftest.py" in result.questions[0].text


WAITING = (
    "import socket\n\nimport calc.sums\n\n\ndef test_far():\n    socket.create_connection(('127.0.0.1', 1))\n"
)
IN_PACKAGE = {
    "calc/__init__.py": "",
    "calc/sums.py": "def add(a, b):\n    return a + b\n",
    "tests/test_sums.py": "import calc\n\n\ndef test_name():\n    assert calc.__name__ == 'calc'\n",
    "tests/test_far.py": WAITING,
}
MOVED = {
    **{name: text for name, text in IN_PACKAGE.items() if name != "calc/sums.py"},
    "calc/totals.py": IN_PACKAGE["calc/sums.py"],
    "tests/test_far.py": WAITING.replace("calc.sums", "calc.totals"),
}
SKIPS = "\n\ndef test_elsewhere():\n    import pytest\n\n    pytest.skip('not here')\n"
WRONG = "import calc.totals\n\n\ndef test_wrong():\n    assert calc.totals.add(1, 2) == 4\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        pytest.param({}, True, id="it fails as before"),
        pytest.param({"tests/test_far.py": MOVED["tests/test_far.py"] + SKIPS}, True, id="one is skipped"),
        pytest.param({"tests/test_more.py": WRONG}, False, id="another test is wrong"),
        pytest.param(
            {"tests/test_far.py": f"{MOVED['tests/test_far.py']}\n\n{WRONG}"}, False, id="one beside it is"
        ),
        pytest.param({"tests/test_far.py": WAITING}, False, id="its test does not follow"),
    ],
)
async def test_a_red_file_that_follows_a_renamed_module_is_a_question(context, changes, asked: bool) -> None:
    result = await run(context, {**MOVED, **changes}, IN_PACKAGE, outside=False)
    assert result.status == "failed", result.feedback
    found = {each.id: each.kind for each in result.questions}
    assert found == (
        {"tests/test_far.py": "different", "tests/test_far.py::test_far": "doubtful"} if asked else {}
    ), result.feedback


@pytest.mark.anyio
async def test_a_red_test_that_names_the_directory_of_its_run_fails_in_the_same_way(context) -> None:
    text = (
        "import os\n\nimport calc\n\n\ndef test_place():\n    raise OSError(os.path.dirname(os.getcwd()))\n"
    )
    base = {**GOOD, "tests/test_place.py": text}
    made = context({**base, "calc.py": f"{GOOD['calc.py']}\n\nX = 1\n"}, base)
    result = await PytestEvaluator(outside=False).evaluate("coding", "", {**made, "goal": "Add a name"})
    (question,) = result.questions
    assert "fails in the same way" in question.text, result.feedback


_BLAMED = (
    "/e/site-packages/_pytest/unraisableexception.py:85: pytest.PytestUnraisableExceptionWarning: "
    "Exception ignored in: <_io.FileIO [closed]>\nTraceback:\n {where}\nResourceWarning: unclosed file {name}"
)


@pytest.mark.parametrize(
    ("here", "is_asked"),
    [
        pytest.param(_BLAMED.format(where="calc.py:9", name="'/tmp/b'"), True, id="in another test"),
        pytest.param(
            _BLAMED.format(where="calc.py:9", name="1").replace("_io.FileIO", "socket.socket"),
            False,
            id="other garbage",
        ),
        pytest.param(
            "/e/site-packages/_pytest/unraisableexception.py:81: "
            "ExceptionGroup: multiple unraisable exception warnings (2 sub-exceptions)",
            True,
            id="several pieces at once",
        ),
        pytest.param("calc.py:9: ResourceWarning: unclosed file", False, id="the test's own failure"),
    ],
)
def test_garbage_like_that_of_the_base_is_a_question_in_whichever_test_is_blamed(
    here: str, is_asked: bool
) -> None:
    red = {"t/a.py::test_a": _BLAMED.format(where="other.py:3", name="'/tmp/a'")}
    failing = {**red, "t/b.py::test_b": here}
    of_base = ran(failing, **{"t/b.py::test_ok": "passed", **dict.fromkeys(failing, "failed")})
    judged = JudgedRun(of_base=of_base, second=SecondLook(red=red))
    assert ("t/b.py::test_b" in doubts_about(judged, {}).of_base) is is_asked


def test_tests_that_are_blamed_for_garbage_are_one_question_whichever_they_are() -> None:
    def asked(*blamed: str) -> list[Question]:
        red = {"t/a.py::test_a": _BLAMED.format(where="other.py:3", name="'/tmp/a'")}
        failing = {**red, **{name: _BLAMED.format(where="calc.py:9", name=name) for name in blamed}}
        of_base = ran(failing, **{"t/b.py::test_ok": "passed", **dict.fromkeys(failing, "failed")})
        return doubts_about(JudgedRun(of_base=of_base, second=SecondLook(red=red)), {}).questions()

    (one,), (other,) = asked("t/b.py::test_b", "t/b.py::test_c"), asked("t/b.py::test_d")
    assert one.text.startswith("`t/b.py::test_b` and 1 more failed, but only for garbage")
    assert one.key == other.key


@pytest.mark.parametrize(
    ("red", "here", "is_asked"),
    [
        (
            "tests/helpers.py:9: AssertionError: [<Server(1)>]",
            "tests/helpers.py:9: AssertionError: [<Server(1)>]",
            True,
        ),
        (
            "tests/helpers.py:9: AssertionError: [<Server(1)>]",
            "tests/helpers.py:8: AssertionError: [<Server(1)>]",
            False,
        ),
        ("tests/helpers.py:9: AssertionError: no server", "tests/helpers.py:9: ValueError: no port", False),
        ("tests/test_a.py:9: AssertionError: assert 1", "tests/test_a.py:9: AssertionError: assert 1", False),
        ("/lib/unittest/case.py:7: AssertionError: 1", "/lib/unittest/case.py:7: AssertionError: 1", False),
        ("calc.py:9: AssertionError: full", "calc.py:9: AssertionError: full", False),
        ("src/latest/calc.py:9: ValueError: full", "src/latest/calc.py:9: ValueError: full", False),
        ("conftest.py:9: ValueError: full", "conftest.py:9: ValueError: full", True),
        ("", "", False),
        (
            "/e/site-packages/requests/adapters.py:7: ConnectionError: (port=1, url: /a): Connection refused",
            "/e/site-packages/requests/adapters.py:7: ConnectionError: (port=2, url: /b): Connection refused",
            True,
        ),
        (
            "/e/site-packages/requests/adapters.py:7: ConnectionError: (port=1, url: /a): Connection refused",
            "calc.py:7: ConnectionError: Connection refused",
            False,
        ),
    ],
    ids=[
        "same line and words",
        "another line",
        "other words",
        "no shared code",
        "unittest's own",
        "the code",
        "more code",
        "a conftest",
        "no message",
        "no server, in other words",
        "no server, in the code",
    ],
)
def test_a_failure_in_a_helper_like_one_beside_it_at_the_base_is_a_question(
    red: str, here: str, is_asked: bool
) -> None:
    known, broken, elsewhere = (
        "tests/test_a.py::A::test_red",
        "tests/test_a.py::A::test_b",
        "tests/test_a.py::B::test_b",
    )
    second = SecondLook(red={known: red})
    for name, expected in ((broken, is_asked), (elsewhere, False)):
        run_of_base = ran({name: here}, **{"tests/test_a.py::A::test_good": "passed", name: "failed"})
        doubts = doubts_about(JudgedRun(of_base=run_of_base, second=second, compared=True), {})
        assert (name in doubts.of_base) is expected
        # What failed before anything was done is sorted elsewhere.
        assert not doubts_about(
            JudgedRun(of_base=ran({known: red}, a="passed", **{known: "failed"}), second=second), {}
        )
