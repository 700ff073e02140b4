"""Functions without annotations are looked into where the base has none."""

import pytest

from app.runners.evaluators.static.annotated import annotates_all, checked_throughout

TYPED = "def f(a: int) -> int:\n    return a\n"
UNTYPED = "def f(a):\n    return a"


@pytest.mark.parametrize(
    ("base", "result"),
    [
        pytest.param({"a.py": TYPED}, True, id="all are annotated"),
        pytest.param({"a.py": TYPED, "b.py": UNTYPED}, False, id="one is not"),
        pytest.param({"a.py": TYPED, "tests/b.py": UNTYPED, "test_c.py": UNTYPED}, True, id="tests"),
        pytest.param({"a.py": "x = 1\n"}, False, id="no function"),
        pytest.param({"a.py": TYPED + "\ndef main():\n    pass\n"}, True, id="one without parameters"),
        pytest.param({"a.py": "def ("}, False, id="no program"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_whether_a_project_annotates(base: dict[str, str], *, result: bool) -> None:
    assert annotates_all(base) is result


def test_only_files_that_have_such_functions_are_touched() -> None:
    files = {"a.py": UNTYPED, "b.py": TYPED, "test_a.py": UNTYPED, "c.py": "def ("}
    checked = checked_throughout(files)
    assert checked == {**files, "a.py": f"{UNTYPED}\n# mypy: check-untyped-defs\n"}
