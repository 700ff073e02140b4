"""A test that compares nothing, expects what the code made of its input, or still waits is a question."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import ProtectedPolicy
from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

GOAL = "label in codes.py returns upper case; set HAS_LABELS"
CODES = "CODES = {'a': 'alpha', 'b': 'beta'}\n\n\ndef label(code):\n    return CODES[code]\n"
RIGHT = CODES.replace("CODES[code]", "CODES[code].upper()")
LOOP = (
    "import codes\n\n\ndef test_all():\n    for code in codes.CODES:\n"
    "        assert codes.label(code).isupper()\n"
)
OTHER = "\n\ndef test_callable():\n    assert callable(codes.label)\n"
CALLBACK = (
    "import walking\n\n\ndef test_each():\n    def look(word):\n        assert word.isupper()\n\n"
    "    walking.walk(['a', 'b'], look)\n\n\ndef test_callable():\n    assert callable(walking.walk)\n"
)
WALK = "def walk(words, look):\n    for word in words:\n        look(word)\n"
SKIPPED = (
    "import pytest\n\nimport codes\n\n\n@pytest.mark.skipif(not codes.HAS_LABELS, reason='not yet')\n"
    "def test_label():\n    assert codes.label('a') == 'ALPHA'\n\n\n"
    "def test_codes():\n    assert codes.CODES\n"
)
FLAG = "HAS_LABELS = False\n"
NEEDS = (
    "import pytest\n\nfast = pytest.importorskip('fast')\n\n\n"
    "def test_fast():\n    assert fast.label('a') == 'ALPHA'\n"
)
BREAKS = "raise ModuleNotFoundError('fast needs a compiler', name='fast')\n"


async def asked(context, files, base, goal=GOAL):
    made = {**context({**base, **files}, base), "goal": goal}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    return result.status, [each.text for each in result.questions]


@pytest.mark.parametrize(
    ("files", "base", "test"),
    [
        pytest.param(
            {"codes.py": "CODES = {}\n\n\ndef label(code):\n    return CODES[code]\n"},
            {"codes.py": CODES, "tests/test_codes.py": LOOP + OTHER},
            "tests/test_codes.py::test_all",
            id="a loop over nothing",
        ),
        pytest.param(
            {"walking.py": "def walk(words, look):\n    pass\n"},
            {"walking.py": WALK, "tests/test_walking.py": CALLBACK},
            "tests/test_walking.py::test_each",
            id="a callback that is never called",
        ),
        pytest.param(
            {
                "walking.py": "def walk(words, look):\n    try:\n        look('a')\n"
                "    except AssertionError:\n        pass\n"
            },
            {"walking.py": WALK, "tests/test_walking.py": CALLBACK},
            "tests/test_walking.py::test_each",
            id="a callback whose failure is hidden",
        ),
    ],
)
async def test_a_test_that_reaches_no_assertion_is_a_question(context, files, base, test) -> None:
    status, questions = await asked(context, files, base)
    assert (status, questions) == ("failed", [f"No assertion of `{test}` is reached: may that be?"])
    noted = await PytestEvaluator(outside=False).evaluate(
        "coding", "", {**context({**base, **files}, base), "protected_policy": ProtectedPolicy.NOTE}
    )
    assert (noted.status, noted.questions) == ("passed", []), noted.feedback


ORDERED = "def ordered(items):\n    raise NotImplementedError\n"
ORDER = (
    "from ordering import ordered\n\n\ndef test_order():\n    data = [3, 1, 2]\n"
    "    assert ordered(data) == sorted(data)\n\n\ndef test_length():\n    data = ['b', 'a']\n"
    "    found = ordered(data)\n    assert len(found) == len(data)\n"
)


async def test_an_expectation_that_the_code_changes_is_a_question(context) -> None:
    base = {"ordering.py": ORDERED, "tests/test_ordering.py": ORDER}
    emptied = {"ordering.py": "def ordered(items):\n    items.clear()\n    return []\n"}
    status, (text,) = await asked(context, emptied, base)
    both = "`tests/test_ordering.py::test_length`, `tests/test_ordering.py::test_order`"
    assert (status, text) == (
        "failed",
        f"The code changes from what {both} computes its expectation: may that be?",
    )
    honest = {"ordering.py": "def ordered(items):\n    return sorted(items)\n"}
    assert await asked(context, honest, base) == ("passed", [])
    same = {"ordering.py": emptied["ordering.py"], "more.py": "X = 1\n"}
    assert await asked(context, same, {**base, **emptied}) == ("passed", [])


FILLED = (
    "from ordering import ordered\n\n\ndef test_fills():\n    out = []\n    found = ordered(out)\n"
    "    assert found == len(out)\n    assert len(out) == 2\n"
)


async def test_a_list_that_the_code_has_to_fill_is_no_question(context) -> None:
    base = {"ordering.py": ORDERED, "tests/test_ordering.py": FILLED}
    filled = {"ordering.py": "def ordered(items):\n    items += [1, 2]\n    return len(items)\n"}
    assert await asked(context, filled, base) == ("passed", [])


async def test_a_loop_that_the_base_does_not_reach_either_is_no_question(context) -> None:
    base = {
        "codes.py": "CODES = {}\n",
        "tests/test_codes.py": LOOP + "\n\ndef test_one():\n    assert True\n",
    }
    assert await asked(context, {"codes.py": "CODES = {}\n\nMORE = 1\n"}, base) == ("passed", [])


async def test_a_loop_over_what_the_code_gives_is_no_question(context) -> None:
    base = {"codes.py": CODES, "tests/test_codes.py": LOOP + OTHER}
    result = await run(context, {**base, "codes.py": RIGHT}, base, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


@pytest.mark.parametrize(
    ("files", "base", "name"),
    [
        pytest.param(
            {"codes.py": FLAG + RIGHT},
            {"codes.py": FLAG + CODES, "tests/test_codes.py": SKIPPED},
            "HAS_LABELS",
            id="a flag that stays",
        ),
        pytest.param(
            {"fast.py": BREAKS},
            {"codes.py": CODES, "tests/test_codes.py": f"import codes\n{OTHER}", "tests/test_fast.py": NEEDS},
            "fast",
            id="a module that does not load",
        ),
    ],
)
async def test_a_test_that_still_waits_for_the_work_is_a_question(context, files, base, name) -> None:
    goal = f"{GOAL}, also in the module fast"
    status, questions = await asked(context, files, base, goal)
    assert (status, len(questions)) == ("failed", 1), questions
    assert f"is still skipped, and the goal is about `{name}`" in questions[0]
    assert await asked(context, files, base, "Mend something else") == ("passed", [])


async def test_a_test_that_waits_for_a_part_of_python_is_no_question(context) -> None:
    later = (
        "import pytest\n\n\n@pytest.mark.skipif(not hasattr(AttributeError, 'nothing'), reason='too old')\n"
        "def test_later():\n    assert 1\n"
    )
    files = {"codes.py": CODES + "\n\ndef get():\n    raise AttributeError\n"}
    base = {"codes.py": CODES, "tests/test_codes.py": f"import codes\n{OTHER}\n\n{later}"}
    assert await asked(context, files, base, "Fix an AttributeError of get") == ("passed", [])
