"""Counter-tests find code that deceives its tests, and hold nothing against code that does not."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.counter_tests.counter_run import CounterTests
from app.runners.evaluators.testing.counter_tests.sampling import Nearness
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.trees import lay_out, whole_tree
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox

pytestmark = pytest.mark.anyio

SANDBOX = Sandbox(SandboxSettings(mode=SandboxMode.PREFERRED))

TESTS = """import pytest

from code import double, word

def test_double():
    assert double(2) == 4
    assert double(-21) == -42

@pytest.mark.parametrize(("number", "expected"), [(1, "one"), (2, "two"), (3, "three")])
def test_word(number, expected):
    assert word(number) == expected

def test_unknown():
    with pytest.raises(LookupError, match="no word"):
        word(99)

def test_runs():
    double(1)
""".replace("code", "candidate")
HONEST = """WORDS = {1: "one", 2: "two", 3: "three"}

def double(number):
    return number * 2

def word(number):
    if number not in WORDS:
        raise LookupError("no word for that")
    return WORDS[number]
"""
STUB = "def double(number): ...\n\ndef word(number): ...\n"


async def checked(
    path: Path, code: str, base: str = STUB, tests: str = TESTS, conftest: str = ""
) -> CounterReport:
    roots = []
    for name, text in (("base", base), ("candidate", code)):
        root = path / name
        (root / "tests").mkdir(parents=True)
        (root / "candidate.py").write_text(text)
        (root / "tests" / "test_candidate.py").write_text(tests)
        (root / "tests" / "conftest.py").write_text(conftest)
        roots.append(root)
    harness = Harness(python=Path(sys.executable), base=roots[0], seconds=120, sandbox=SANDBOX)
    tree = lay_out(*roots, settings_for(roots[1], roots[0])).base_run
    assert tree is not None
    plain = await harness.run(tree)
    assert all(each.ok for each in plain.tests.values())
    own = whole_tree(roots[0])
    honest = replace(own, trusted=frozenset(own.files))
    return await CounterTests(harness=harness, base=honest, seed=7).check(tree, plain, {}, Nearness())


@pytest.mark.parametrize("base", [pytest.param(STUB, id="stub"), pytest.param(HONEST, id="code")])
async def test_honest_code_is_proven(tmp_path: Path, base: str) -> None:
    report = await checked(tmp_path, HONEST, base)
    assert dict(report.refuted) == {}
    assert len(report.proven) == 5
    assert dict(report.unproven) == {
        "tests/test_candidate.py::test_runs": "it has no expectation that can be changed"
    }


EQUAL = """class Any:
    def __eq__(self, other):
        return True

def double(number):
    return Any()
""" + HONEST.replace("def double", "def _double")
LOOKED_UP = """import sys

def word(number):
    if number == 99:
        raise LookupError("no word")
    return sys._getframe(1).f_locals["expected"]

def double(number):
    return number * 2
"""


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        pytest.param(EQUAL, {"test_double"}, id="equals everything"),
        pytest.param(LOOKED_UP, {"test_word"}, id="looks the answer up"),
    ],
)
@pytest.mark.parametrize("base", [pytest.param(STUB, id="stub"), pytest.param(HONEST, id="code")])
async def test_deceit_is_found(tmp_path: Path, code: str, tests: set[str], base: str) -> None:
    report = await checked(tmp_path, code, base)
    assert {each.partition("::")[2].partition("[")[0] for each in report.refuted} == tests


async def test_what_the_base_does_not_notice_either_is_not_held_against_anybody(tmp_path: Path) -> None:
    """The project's own class is equal to any number, and was before."""
    code = "class Any:\n    def __eq__(self, other):\n        return True\n\nanything = Any\n"
    tests = "from candidate import anything\n\ndef test_any():\n    assert anything() == 3\n"
    report = await checked(tmp_path, code, code, tests)
    assert dict(report.refuted) == {}


SHUFFLED = """import pytest

from candidate import WORDS, double, word

@pytest.mark.parametrize(
    ("number", "expected"), [(1, 2), (2, 4), (3, 6), (4, 8), (5, 10), (6, 12), (7, 14), (8, 16)]
)
def test_double(number, expected):
    assert double(number) == expected

@pytest.mark.parametrize("number", range(1, 9))
def test_words(number):
    if number in WORDS:
        assert word(number)
"""
SHUFFLE = """import random

def pytest_collection_modifyitems(items):
    random.SystemRandom().shuffle(items)
"""


async def test_shuffled_tests_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """Plugins put tests in another order in each run; five of the words say nothing of any expectation."""
    report = await checked(tmp_path, HONEST, HONEST, SHUFFLED, SHUFFLE)
    assert dict(report.refuted) == {}
    proven = {each.partition("::")[2] for each in report.proven}
    assert {each for each in proven if "test_words" in each} == {f"test_words[{n}]" for n in (1, 2, 3)}
    assert len(proven) == 11


async def test_code_that_fails_whenever_its_tests_were_touched_is_found(tmp_path: Path) -> None:
    code = HONEST + (
        "\nfrom hashlib import sha256\nfrom pathlib import Path\n"
        "_text = (Path(__file__).parent / 'tests' / 'test_candidate.py').read_bytes()\n"
        f"if sha256(_text).hexdigest() != {__import__('hashlib').sha256(TESTS.encode()).hexdigest()!r}:\n"
        "    def double(number):\n        raise SystemError\n    word = double\n"
    )
    report = await checked(tmp_path, code)
    assert report.proven == ()
    assert set(report.refuted.values()) == {"it fails as soon as a comment is added to its file"}


HANGING = """from time import sleep

import pytest

from candidate import double

@pytest.mark.parametrize(("number", "expected"), [(1, 2), (2, 4), (3, 6), (4, 8)])
def test_waits(number, expected):
    try:
        while double(number) != expected:
            sleep(0.01)
    except BaseException:
        while double(number) != expected:
            sleep(0.01)

def test_double():
    assert double(3) == 6
"""


async def test_a_test_that_never_ends_with_a_wrong_expectation_costs_only_its_own_proof(
    tmp_path: Path,
) -> None:
    """It keeps the first interruption to itself, too."""
    report = await checked(tmp_path, HONEST, HONEST, HANGING)
    assert dict(report.refuted) == {}
    assert "tests/test_candidate.py::test_double" in report.proven


async def test_doctests_are_proven_and_code_that_reads_them_is_found(tmp_path: Path) -> None:
    def code(body: str) -> str:
        return f'def half(number):\n    """Halve.\n\n    >>> half(42)\n    21\n    """\n    {body}\n'

    def project(name: str, body: str) -> Path:
        root = tmp_path / name
        root.mkdir()
        (root / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
        (root / "halves.py").write_text(code(body))
        return root

    base = project("base", "raise NotImplementedError")
    shown = "type('Shown', (str,), {'__repr__': str.__str__})"
    forged = f"return {shown}(half.__doc__.split('half(42)')[1].split()[0])"
    for name, body, deceit in (("good", "return number // 2", False), ("bad", forged, True)):
        root = project(name, body)
        harness = Harness(python=Path(sys.executable), base=base, seconds=120, sandbox=SANDBOX)
        tree = lay_out(base, root, settings_for(root, base)).base_run
        assert tree is not None
        plain = await harness.run(tree)
        assert [each.ok for each in plain.tests.values()] == [True]
        own = whole_tree(base)
        honest = replace(own, trusted=frozenset(own.files))
        report = await CounterTests(harness=harness, base=honest, seed=7).check(tree, plain, {}, Nearness())
        assert bool(report.refuted) is deceit
        assert bool(report.proven) is not deceit


FOLLOWED = """from candidate import double

def check(candidate):
    assert candidate(2) == 4
    assert candidate(-21) == -42

def test_check():
    check(double)
"""


async def test_a_test_whose_assertions_are_in_a_helper_is_proven_and_deceit_is_found(tmp_path: Path) -> None:
    honest = await checked(tmp_path / "honest", HONEST, tests=FOLLOWED)
    assert honest.proven == ("tests/test_candidate.py::test_check",)
    deceit = await checked(tmp_path / "deceit", EQUAL, tests=FOLLOWED)
    assert set(deceit.refuted) == {"tests/test_candidate.py::test_check"}


NEEDS_THE_ONE_BEFORE = """from candidate import double

state = {}

def test_first():
    state["first"] = double(1)
    assert state["first"] == 2

def test_second():
    if state:
        return
    assert double(2) == 4
"""


async def test_a_suspect_that_the_base_notices_alone_is_asked_about_among_its_neighbours(
    tmp_path: Path,
) -> None:
    report = await checked(tmp_path, HONEST, base=HONEST, tests=NEEDS_THE_ONE_BEFORE)
    assert dict(report.refuted) == {}
