"""Only tests can be held out, and only such as the agent cannot read anyway."""

import pytest

from app.core.errors import InvalidInputError
from app.runners.evaluators.held_out.held_out_files import check_held_out

BASE = {"calc.py": "X = 1\n", "tests/test_calc.py": "def test_x():\n    assert 1\n"}
TEST = {"tests/test_more.py": b"def test_more():\n    assert 2\n"}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(TEST, id="a new file"),
        pytest.param({"tests/test_calc.py": b"def test_x():\n    assert 3\n"}, id="a changed file"),
        pytest.param({**TEST, "tests/data/wanted.json": b"{}"}, id="with data"),
        pytest.param({"test_top.py": b"def test_y():\n    assert 1\n"}, id="at the root"),
    ],
)
def test_tests_are_taken(tree, files) -> None:
    taken = check_held_out(files, tree(BASE))
    assert set(taken.files) == set(files)
    assert taken.tests == {name for name in files if name.endswith(".py")}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param({**TEST, "calc.py": b"X = 2\n"}, "calc.py is not a test file", id="the solution"),
        pytest.param({**TEST, "new/code.py": b"X = 2\n"}, "new/code.py is not a test file", id="new code"),
        pytest.param(
            {**TEST, "sitecustomize.py": b""}, "sitecustomize.py is not a test", id="loaded unasked"
        ),
        pytest.param({"tests/data.json": b"{}"}, "no file is a test file", id="data alone"),
        pytest.param({"tests/test_a.py": b"\xff"}, "tests/test_a.py is not UTF-8", id="binary"),
        pytest.param({"tests/test_a.py": b"X = '\0'"}, "contains a NUL", id="NUL"),
        pytest.param({"tests/.git/test_a.py": b""}, "is never judged", id="git"),
        pytest.param({}, "adds and changes no file", id="nothing"),
        pytest.param({"tests/test_a.py": b"x" * 500_001}, "500,001 bytes", id="too large"),
        pytest.param(
            {"tests/test_b.py": BASE["tests/test_calc.py"].encode()},
            "is in the base as tests/test_calc.py",
            id="in the base",
        ),
    ],
)
def test_anything_else_is_refused_by_name(tree, files, says) -> None:
    with pytest.raises(InvalidInputError, match=says) as caught:
        check_held_out(files, tree(BASE))
    assert caught.value.field == "held_out"
