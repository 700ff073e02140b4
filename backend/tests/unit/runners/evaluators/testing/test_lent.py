"""Which files of the tests a test has named to the code."""

import json
from pathlib import Path

import pytest

from app.runners.evaluators.testing.pytest_outside.lent import Lent

TREE = Path("/some tree")


def message(*texts: str) -> bytes:
    return json.dumps(
        {"op": "call", "a": list(texts), "x": {"env": {"A": "tests/data"}}}, separators=(",", ":")
    ).encode()


@pytest.mark.parametrize(
    ("said", "is_lent"),
    [
        pytest.param("/some tree/tests/data/räte.json", True, id="the path"),
        pytest.param("räte.json", True, id="the name"),
        pytest.param("räte", True, id="the name without its ending"),
        pytest.param("tests/data", True, id="the directory"),
        pytest.param("/some tree/tests/data", True, id="the directory's path"),
        pytest.param("tests.data", True, id="the directory as a package"),
        pytest.param("something else", False, id="nothing of it"),
        pytest.param("latest", False, id="a word that holds the name of its directory"),
    ],
)
def test_what_lends_a_file(said: str, *, is_lent: bool) -> None:
    lent = Lent(TREE, ["tests/data/räte.json"])
    lent.hear(message(said))
    assert (lent.taken("/some tree/tests/data/räte.json") is None) is is_lent


def test_other_files_and_descriptors_are_nobodys_business() -> None:
    lent = Lent(TREE, ["tests/x.json"])
    assert [lent.taken(each) for each in (3, "/some tree/a.json", b"/etc/hosts", None)] == [None] * 4


def test_a_path_is_read_as_the_system_would() -> None:
    lent = Lent(TREE, ["tests/x.json"])
    assert lent.taken(b"/some tree/src/../tests/./x.json") == "tests/x.json"


def test_a_directory_that_the_test_works_in_is_lent() -> None:
    lent = Lent(TREE, ["tests/data/x.json"])
    lent.add("/some tree/tests/data")
    assert lent.taken("/some tree/tests/data/x.json") is None


def test_a_variable_that_the_test_sets_lends_what_it_names() -> None:
    lent = Lent(TREE, ["tests/data/x.json"])
    lent.add_variables(
        {"HOME": "tests/data"}, {"HOME": "tests/data", "PYTEST_CURRENT_TEST": "tests/data/x.json"}
    )
    assert lent.taken("/some tree/tests/data/x.json") is not None
    lent.add_variables({}, {"CONFIG": "tests/data/x.json"})
    assert lent.taken("/some tree/tests/data/x.json") is None


@pytest.mark.parametrize("said", ["/some tree", "."])
def test_the_whole_tree_lends_everything_in_it(said: str) -> None:
    lent = Lent(TREE, ["wanted.json"])
    assert lent.taken("/some tree/wanted.json") is not None
    lent.hear(message(said))
    assert lent.taken("/some tree/wanted.json") is None
