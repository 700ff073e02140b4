"""Which functions a change can affect."""

import pytest

from app.runners.evaluators.testing.source_questions.changed_code import affected_among, steps_to_changes
from tests.unit.runners.evaluators.testing.test_source_questions import new_source

CODE = """import sys

LIMIT = 3


class Kept:
    size = LIMIT


def inner(x):
    return x + LIMIT


def outer(x):
    return inner(x)


def other(x):
    return x


def main():
    print(other(sys.argv))
"""
TEST = {"tests/test_m.py": "from m import outer\n\n\ndef test_outer():\n    assert outer(1) == 4\n"}


@pytest.mark.parametrize(
    ("old", "new", "affected"),
    [
        pytest.param("print(other", "print(not other", {"main"}, id="a function that calls others"),
        pytest.param("return x + LIMIT", "return LIMIT + x", {"inner", "outer"}, id="one that others call"),
        pytest.param("LIMIT = 3", "LIMIT = 4", {"inner", "outer", "Kept"}, id="a constant"),
        pytest.param("size = LIMIT", "size = 2", {"Kept"}, id="a class"),
        pytest.param(
            "import sys\n",
            "import sys\n\nsys.tracebacklimit = 3\n",
            {"inner", "outer", "other", "main", "Kept"},
            id="a statement of the module",
        ),
        pytest.param("def main", "# Start.\ndef main", set[str](), id="a comment"),
    ],
)
def test_what_a_change_can_affect(tmp_path, old: str, new: str, affected: set[str]) -> None:
    source = new_source(tmp_path, {"m.py": CODE.replace(old, new)}, {**TEST, "m.py": CODE})
    names = ("m.inner", "m.outer", "m.other", "m.main", "m.Kept")
    assert {each.removeprefix("m.") for each in affected_among(source, names)} == affected


@pytest.mark.parametrize(
    ("files", "gone"),
    [
        pytest.param({"table.json": "{}"}, (), id="a data file"),
        pytest.param(
            {"m.py": CODE.replace("import sys\n", "import sys\n\nfrom more import *\n")}, (), id="a star"
        ),
        pytest.param({}, ("more.py",), id="a source that is gone"),
    ],
)
def test_what_may_affect_every_function(tmp_path, files, gone) -> None:
    source = new_source(tmp_path, files, {**TEST, "m.py": CODE, "more.py": "MORE = 1\n"})
    for name in gone:
        (tmp_path / "work" / name).unlink()
    assert affected_among(source, ["m.inner"]) == ["m.inner"]


@pytest.mark.parametrize(
    ("code", "affected"),
    [
        pytest.param(CODE, False, id="that no code names"),
        pytest.param(CODE + "PAGE = open('docs/intro.md').read()\n", True, id="that the code names"),
        pytest.param(CODE + "PAGES = sorted(HERE.glob('*.md'))\n", True, id="of a kind that the code reads"),
        pytest.param(CODE + "IS_PAGE = path.suffix == '.md'\n", True, id="whose ending the code names"),
    ],
)
def test_a_page(tmp_path, code: str, affected: bool) -> None:
    source = new_source(
        tmp_path, {"docs/intro.md": "New.\n"}, {**TEST, "m.py": code, "docs/intro.md": "Old.\n"}
    )
    assert affected_among(source, ["m.inner"]) == (["m.inner"] if affected else [])


def test_a_name_that_is_imported_from_elsewhere_affects_what_mentions_it(tmp_path) -> None:
    base = "from one import work\n\n\ndef f(x):\n    return work(x)\n\n\ndef g(x):\n    return x\n"
    known = {"one.py": "def work(x):\n    return x\n", "two.py": "def other(x):\n    return x + 1\n"}
    changed = base.replace("from one import work", "from two import other as work")
    source = new_source(tmp_path, {"m.py": changed}, {**TEST, **known, "m.py": base})
    assert affected_among(source, ["m.f", "m.g"]) == ["m.f"]


def test_a_function_that_no_source_defines_may_be_affected(tmp_path) -> None:
    source = new_source(tmp_path, {"m.py": f"{CODE}\n"}, {**TEST, "m.py": CODE})
    assert affected_among(source, ["m.made_at_run_time"]) == ["m.made_at_run_time"]


@pytest.mark.parametrize(
    ("use", "affected"),
    [
        pytest.param("", [], id="that nothing imports"),
        pytest.param("from pack import fast\n", ["m.quick"], id="by name"),
        pytest.param("from pack.fast import run as fast\n", ["m.quick"], id="a part of it"),
        pytest.param("import pack.fast as fast\n", ["m.quick"], id="under a name"),
    ],
)
def test_a_source_in_cython_affects_what_imports_its_module(tmp_path, use: str, affected: list[str]) -> None:
    code = (
        f"{use}\n\ndef quick(x):\n    return {'fast' if use else 'abs'}(x)\n\n\ndef slow(x):\n    return x\n"
    )
    base = {**TEST, "m.py": code, "pack/fast.pyx": "def run(x): return x\n"}
    source = new_source(tmp_path, {"pack/fast.pyx": "cpdef run(x): return x\n"}, base)
    assert affected_among(source, ["m.quick", "m.slow"]) == affected


def test_how_many_steps_code_is_away_from_a_change(tmp_path) -> None:
    changed = CODE.replace("return x + LIMIT", "return LIMIT + x")
    source = new_source(tmp_path, {"m.py": changed}, {**TEST, "m.py": CODE})
    assert steps_to_changes(source) == {"inner": 0, "outer": 1}
    source = new_source(tmp_path / "more", {"m.py": CODE.replace("= 3", "= 4")}, {**TEST, "m.py": CODE})
    assert steps_to_changes(source) == {"LIMIT": 0, "Kept": 1, "inner": 1, "outer": 2}
