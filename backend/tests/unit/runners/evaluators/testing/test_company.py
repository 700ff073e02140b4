"""Tests that fail only beside others, at the base as well: their number is at fault, not the code."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

CACHED = """_SEEN = []


def add(a, b):
    if len(_SEEN) == 3:
        raise RuntimeError("the cache is full")
    _SEEN.append((a, b))
    return a + b


def double(a):
    return 2 * a
"""
TESTS = """import pytest

from calc import add, double


def test_double():
    assert double(2) == 4


@pytest.mark.parametrize("a", range(15))
def test_add(a):
    assert add(a, 1) == a + 1
"""
FULL = {"calc.py": CACHED, "tests/test_calc.py": TESTS}
SAID = {"goal": "Explain double"}
ADDED = {"tests/test_more.py": "from calc import double\n\n\ndef test_more():\n    assert double(3) == 6\n"}


def judged(context, files, **options):
    def made(given, base):
        return {**context(given, base), **SAID}

    return run(made, files, FULL, outside=False, counter_tests="off", **options)


async def test_a_cache_that_is_full_at_the_base_too_is_asked_about(context) -> None:
    explained = {"calc.py": CACHED.replace("return 2 * a", "# Twice.\n    return 2 * a")}
    result = await judged(context, {**FULL, **explained, **ADDED})
    assert result.status == "failed"
    assert any("`tests/test_calc.py::test_add[3]`" in each.text for each in result.questions)
    assert all("already failed at the base" in each.text for each in result.questions)


async def test_a_cache_that_the_candidate_makes_smaller_fails(context) -> None:
    smaller = {"calc.py": CACHED.replace("== 3", "== 2")}
    result = await judged(context, {**FULL, **smaller})
    assert (result.status, result.questions) == ("failed", [])
    assert "tests/test_calc.py::test_add[2]" in result.metadata["failing"]


async def test_a_cache_that_only_the_candidate_has_fails(context) -> None:
    base = {**FULL, "calc.py": CACHED.replace("len(_SEEN) == 3", "False")}
    result = await run(lambda *given: {**context(*given), **SAID}, FULL, base, outside=False)
    assert (result.status, result.questions) == ("failed", [])


async def test_tests_that_always_fail_do_not_hide_those_that_fail_beside_others(context) -> None:
    always = (
        "import pytest\n\n\n@pytest.mark.parametrize('a', range(12))\ndef test_a(a):\n    assert a > 20\n"
    )
    base = {**FULL, "tests/test_a.py": always}
    explained = {"calc.py": CACHED.replace("return 2 * a", "# Twice.\n    return 2 * a")}

    def made(given, given_base):
        return {**context(given, given_base), **SAID}

    result = await run(made, {**base, **explained}, base, outside=False, counter_tests="off")
    asked = "\n".join(each.before for each in result.questions)
    assert all(
        f"{name}: " in asked for name in ("tests/test_calc.py::test_add[3]", "tests/test_a.py::test_a[0]")
    )


async def test_the_whole_run_of_the_base_does_not_wait_for_a_test_that_never_ends(context) -> None:
    waiting = {"tests/test_a.py": "import time\n\n\ndef test_wait():\n    time.sleep(600)\n"}
    explained = {"calc.py": CACHED.replace("return 2 * a", "# Twice.\n    return 2 * a")}

    def made(given, base):
        return {**context(given, base), **SAID, "limits": {"seconds": 8.0}}

    base = {**FULL, **waiting}
    result = await run(made, {**base, **explained}, base, outside=False, counter_tests="off")
    asked = " ".join(each.text for each in result.questions)
    assert "9 tests already failed at the base in one way, such as `tests/test_calc.py::test_add[3]`" in asked
    assert "`tests/test_a.py::test_wait` does not end" in asked


# Without automatic collection, only the tests decide when the garbage is found.
LEAVING = """import gc

from calc import double

gc.disable()


def test_a_leaves_an_open_file():
    held = [open(__file__)]
    held.append(held)


def test_double():
    assert double(2) == 4


def test_other():
    gc.collect()
"""
STRICT = {"pytest.ini": "[pytest]\nfilterwarnings = error\n", "tests/test_calc.py": LEAVING}
TIDY = "import gc\n\n\ndef double(a):\n    gc.collect()\n    return 2 * a\n"


async def test_garbage_of_the_tests_is_asked_about_in_whichever_test_pytest_blames(context) -> None:
    base = {**STRICT, "calc.py": "def double(a):\n    return 2 * a\n"}
    result = await run(context, {**base, "calc.py": TIDY}, base, outside=False, counter_tests="off")
    assert result.status == "failed"
    (question,) = result.questions
    like = "`tests/test_calc.py::test_double` failed, but only for garbage"
    assert question.text.startswith(like), result.feedback


KEEPS = {
    "calc.py": "seen = []\n\ndef add(a, b):\n    seen.append(a)\n    return a + b\n",
    "tests/test_a.py": "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n",
    "tests/test_b.py": (
        "import pytest\nfrom calc import seen\n\n@pytest.mark.xfail\ndef test_b():\n    assert seen == []\n"
    ),
}


async def test_a_test_that_may_fail_depends_on_others(context):
    """At the base it passes without the others, and fails among them, which is not the change's fault."""
    changed = {**KEEPS, "calc.py": "# A list of what was added.\n" + KEEPS["calc.py"]}
    result = await run(context, changed, base=KEEPS)
    assert result.passed, result.feedback


async def test_a_test_that_fails_only_now_is_missed(context):
    changed = {**KEEPS, "calc.py": KEEPS["calc.py"].replace("[]", "[0]")}
    result = await run(context, changed, base=KEEPS)
    assert not result.passed
    assert "newly skipped or expected to fail: tests/test_b.py::test_b" in result.feedback


PARSES = {
    "calc.py": "ready = []\n\n\ndef add(a, b):\n    ready.append(a)\n    return a + b\n",
    "tests/test_a.py": "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n",
    "tests/test_b.py": """import pytest

from calc import ready


def test_b():
    if ready[0]:
        pytest.skip("only for other versions")
""",
}


async def test_a_test_that_fails_alone_is_skipped_among_others_at_the_base_too(context):
    changed = {**PARSES, "calc.py": "# A list of what was added.\n" + PARSES["calc.py"]}
    result = await run(context, changed, base=PARSES)
    assert result.passed, result.feedback


async def test_a_test_that_fails_alone_and_is_skipped_only_now_is_missed(context):
    added = "    ready.append(a)\n"
    runs = {**PARSES, "calc.py": PARSES["calc.py"].replace(added, "    ready.append(0)\n")}
    result = await run(context, {**runs, "calc.py": PARSES["calc.py"]}, base=runs)
    assert not result.passed
    assert "newly skipped or expected to fail: tests/test_b.py::test_b" in result.feedback
