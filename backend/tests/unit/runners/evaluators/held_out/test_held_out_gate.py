"""Held-out tests judge an attempt, and nothing that an agent reads says what they expect."""

import json

import pytest

from app.runners.evaluators.acceptance import Acceptance, covering
from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator
from app.runners.evaluators.issues import failure_fingerprint
from app.runners.evaluators.protocol import FOR_REVIEWERS
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.schemas.runs import HeldOutFeedback
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

SEEN = "from minutes import minutes\n\ndef test_seen():\n    assert minutes('1h') == 60\n"
BASE = {"minutes.py": "def minutes(text):\n    raise NotImplementedError\n", "tests/test_minutes.py": SEEN}
MARKER = 7919
HIDDEN = {
    "tests/test_hidden.py": (
        "import pytest\nfrom minutes import minutes\n\n"
        f"@pytest.mark.parametrize('text, wanted', [('131h59m', {MARKER})])\n"
        "def test_unseen(text, wanted):\n    assert minutes(text) == wanted\n\n"
        "def test_same():\n    assert isinstance(minutes('1h'), int)\n"
    )
}
HONEST = (
    "import re\n\ndef minutes(text):\n"
    "    hours, rest = re.fullmatch(r'(?:(\\d+)h)?(?:(\\d+)m)?', text).groups('0')\n"
    "    return int(hours) * 60 + int(rest)\n"
)
HARD_CODED = "def minutes(text):\n    return {'1h': 60}.get(text, 0)\n"


def evaluator(told=HeldOutFeedback.NAMES, files=None) -> HeldOutEvaluator:
    tests = PytestEvaluator(timeout=PATIENCE, outside=False)
    return HeldOutEvaluator(files=files or HIDDEN, told=told, tests=tests)


async def judge(context, code, told=HeldOutFeedback.NAMES, files=None, **more):
    made = context({**BASE, "minutes.py": code, **more}, BASE)
    return await evaluator(told, files).evaluate("coding", "", made)


def test_its_runs_have_the_limits_of_the_tests() -> None:
    gate = evaluator()
    assert (gate.timeout, gate.longest) == (gate.tests.timeout, gate.tests.longest)


async def test_honest_work_passes(context) -> None:
    result = await judge(context, HONEST)
    assert (result.status, result.evaluator_name) == ("passed", "held_out_tests")
    assert result.metadata["total_tests"] == 2, "the tests of the base are another gate's"


async def test_work_that_knows_only_the_visible_tests_fails(context) -> None:
    made = context({**BASE, "minutes.py": HARD_CODED}, BASE)
    visible = await PytestEvaluator(timeout=PATIENCE, outside=False).evaluate("coding", "", made)
    assert visible.status == "passed"
    assert (await evaluator().evaluate("coding", "", made)).status == "failed"


@pytest.mark.parametrize(
    ("told", "says", "hides"),
    [
        (HeldOutFeedback.NONE, "Held-out tests fail", ["test_unseen", "test_hidden", "131h", str(MARKER)]),
        (HeldOutFeedback.NAMES, "tests/test_hidden.py::test_unseen", ["131h", str(MARKER)]),
        (HeldOutFeedback.MESSAGES, str(MARKER), []),
    ],
)
async def test_the_policy_chooses_the_words(context, told, says, hides) -> None:
    result = await judge(context, HARD_CODED, told)
    words = result.model_dump_json(exclude={"metadata"})
    assert says in words
    assert [each for each in hides if each in words] == []


async def test_reviewers_are_given_all_of_it(context) -> None:
    result = await judge(context, HARD_CODED, HeldOutFeedback.NONE)
    assert str(MARKER) in json.dumps(result.metadata[FOR_REVIEWERS])


async def test_failures_with_the_same_words_are_told_apart(context) -> None:
    one = await judge(context, HARD_CODED, HeldOutFeedback.NONE)
    other = await judge(context, HARD_CODED.replace(", 0)", ", 1)"), HeldOutFeedback.NONE)
    assert one.feedback == other.feedback
    assert failure_fingerprint([one]) != failure_fingerprint([other])
    accepted = Acceptance.of(one, by="ada", phase="coding", attempt=1)
    assert covering(one, [accepted])
    assert covering(other, [accepted]) is None


async def test_what_the_candidate_puts_in_their_place_gives_way(context) -> None:
    fake = "def test_unseen():\n    pass\n"
    plugin = "import pytest\n\n@pytest.fixture(autouse=True)\ndef skip():\n    pytest.skip('not today')\n"
    result = await judge(
        context,
        HARD_CODED,
        **{"tests/test_hidden.py": fake, "tests/conftest.py": plugin, "conftest.py": plugin},
    )
    assert result.status == "failed"
    assert result.metadata["failed_tests"] == 1


async def test_a_name_that_the_candidate_makes_up_is_not_told(context) -> None:
    code = (
        "import pathlib, sys\n\ndef minutes(text):\n"
        "    frame = sys._getframe(1)\n"
        "    raise AssertionError(str(sorted(frame.f_locals.items())))\n"
    )
    result = await judge(context, code)
    assert str(MARKER) not in result.model_dump_json(exclude={"metadata"})


async def test_no_test_is_no_pass(context) -> None:
    result = await judge(context, HONEST, files={"tests/test_hidden.py": "WANTED = 1\n"})
    assert result.status == "failed"


async def test_what_cannot_be_imported_is_named_by_its_file(context) -> None:
    files = {
        "tests/test_hidden.py": "from minutes import seconds\n\ndef test_it():\n    assert seconds('1h')\n"
    }
    result = await judge(context, HONEST, files=files)
    assert result.status == "failed"
    assert "tests/test_hidden.py" in result.feedback
    assert "seconds" not in result.feedback


async def test_a_project_that_opens_its_tests_does_not_open_these(context) -> None:
    made = context({**BASE, "minutes.py": HARD_CODED, "tests/test_hidden.py": "def test_a(): pass\n"}, BASE)
    made["open_paths"] = ["tests/**"]
    assert (await evaluator().evaluate("coding", "", made)).status == "failed"


async def test_the_base_says_what_proves_nothing(tree) -> None:
    base = tree({**BASE, "minutes.py": HARD_CODED})
    found = await evaluator().at_base(base)
    assert found.passing == ["tests/test_hidden.py::test_same"]
    assert found.failing == 1
    assert "1 of 2 held-out tests pass at the base already" in found.in_words()
    assert sorted(each.name for each in base.rglob("*.py")) == ["minutes.py", "test_minutes.py"]


async def test_without_a_base_there_is_no_verdict(context) -> None:
    assert (await evaluator().evaluate("coding", "", context(BASE))).status == "errored"
