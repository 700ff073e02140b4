"""A change that fixes a known bug removes the strict `xfail` of its test, whose base version then passes."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import judge

pytestmark = pytest.mark.anyio

WRONG = "def add(a, b):\n    return a + b\n\n\ndef half(n):\n    return n / 2\n"
RIGHT = WRONG.replace("n / 2", "n // 2")
MARK = "@pytest.mark.xfail(reason='known', strict=True)\n"
KNOWN = (
    "import pytest\n\nfrom calc import add, half\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    f"{MARK}@pytest.mark.parametrize('n', [5, 7])\ndef test_half(n):\n    assert half(n) == (n - 1) / 2\n"
)
OPEN = KNOWN.replace(MARK, "")
CONFIG = {"pytest.ini": "[pytest]\nxfail_strict = true\n"}
BY_CONFIG = KNOWN.replace(MARK, "@pytest.mark.xfail\n")


@pytest.mark.parametrize(
    ("base", "own", "code", "status", "failing"),
    [
        pytest.param({"t": KNOWN}, OPEN, RIGHT, "passed", 0, id="fixed"),
        pytest.param({"t": BY_CONFIG, **CONFIG}, OPEN, RIGHT, "passed", 0, id="fixed, strict by a setting"),
        pytest.param({"t": KNOWN}, KNOWN, RIGHT, "failed", 2, id="fixed, and still marked"),
        pytest.param(
            {"t": KNOWN}, f"{KNOWN}\nX = 1\n", RIGHT, "failed", 2, id="still marked in a changed file"
        ),
        pytest.param({"t": KNOWN}, OPEN, WRONG, "failed", 2, id="not fixed"),
    ],
)
async def test_a_known_bug(context, base, own: str, code: str, status: str, failing: int) -> None:
    path = "tests/test_calc.py"
    before = {"calc.py": WRONG, path: base["t"], **{name: base[name] for name in base if name != "t"}}
    result = await judge(context({**before, "calc.py": code, path: own}, before), outside=False)
    assert (result.status, len(result.metadata["failing"])) == (status, failing), result.feedback
    assert not (status == "passed" and result.questions)


async def test_what_only_looks_like_an_unexpected_pass_is_a_failure(context) -> None:
    says = (
        "class Shown(AssertionError):\n    def __str__(self):\n        return '[XPASS(strict)] known'\n\n\n"
    )
    raising = RIGHT.replace("return n // 2", "error = Shown()\n    raise error.with_traceback(None)")
    before = {"calc.py": RIGHT, "tests/test_calc.py": OPEN}
    own = OPEN.replace("assert half(n) == (n - 1) / 2", "assert add(n, 0) == n")
    result = await judge(
        context({"calc.py": says + raising, "tests/test_calc.py": own}, before), outside=False
    )
    assert result.status == "failed"
    assert len(result.metadata["failing"]) == 2
