"""What doctests want can be changed where a changed letter is sure to matter."""

import ast
from random import Random

import pytest

from app.runners.evaluators.source_edits import apply_edits
from app.runners.evaluators.testing.counter_tests.doctest_sites import read_doctests
from app.runners.evaluators.testing.counter_tests.reading import TestFile
from app.runners.evaluators.testing.layout.doctests import docstrings

NAME = "package/sums.py"


def source(*lines: str) -> bytes:
    body = "".join(f"    {line}\n" for line in lines)
    return f'"""Sums."""\n\n\ndef add(a, b):\n    """Add.\n\n{body}    """\n    return a + b\n'.encode()


def read(content: bytes, *tests: str) -> TestFile | None:
    return read_doctests(NAME, content, tests or ("package.sums.add",), Random(3))


def versions(content: bytes) -> list[str]:
    """Return the docstring with each of the wrong outputs."""
    file = read(content)
    assert file is not None
    sites = file.functions["package.sums.add"].sites
    texts = [apply_edits(content, edits) for site in sites for edits in site.edits]
    for each in texts:
        ast.parse(each)
        assert each.count(b"\n") == content.count(b"\n")
    return [dict(docstrings(each))[".add"].value for each in texts]  # type: ignore[misc]


def test_each_wanted_line_has_two_wrong_versions() -> None:
    content = source(">>> add(1, 2)", "3", ">>> print(add(", "...     4, 5))", "9")
    found = versions(content)
    assert len(found) == len(set(found)) == 4
    true = dict(docstrings(content))[".add"].value
    assert all(each != true and each.replace("\n", "")[:4] == "Add." for each in found)
    assert all(">>> add(1, 2)" in each and "4, 5))" in each for each in found)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([">>> add(1, 2)  # doctest: +SKIP", "3"], id="skipped"),
        pytest.param([">>> add(1, 2)  # doctest: +ELLIPSIS", "..."], id="anything goes"),
        pytest.param([">>> add(1)", "Traceback (most recent call last):", "TypeError: x"], id="an error"),
        pytest.param([">>> print()", "<BLANKLINE>"], id="a blank line"),
        pytest.param([">>> add(1, 2) and None"], id="nothing is wanted"),
        pytest.param([">>> print(add(1, 2), '+')", "\\x33 +"], id="written with an escape"),
        pytest.param([">>> print('ä1')", "ä1"], id="letters of several bytes"),
        pytest.param([">>> [()]", "[()]"], id="no letter or digit"),
    ],
)
def test_what_may_be_compared_otherwise_is_left_alone(lines: list[str]) -> None:
    assert versions(source(*lines)) == []


@pytest.mark.parametrize(
    ("test", "known"),
    [
        pytest.param("package.sums.add", True, id="a function"),
        pytest.param("sums.add", True, id="a module at the root of the path"),
        pytest.param("other.add", False, id="another module"),
        pytest.param("package.sums.addition", False, id="another function"),
        pytest.param("test_add", False, id="no doctest"),
    ],
)
def test_a_doctest_is_found_by_its_name(test: str, *, known: bool) -> None:
    file = read(source(">>> add(1, 2)", "3"), test)
    assert (file is not None and test in file.functions) is known


def test_the_docstring_of_a_package_is_found() -> None:
    content = b'"""Sums.\n\n>>> 1 + 1\n2\n"""\n'
    file = read_doctests("package/__init__.py", content, ["package"], Random(3))
    assert file is not None
    assert file.is_source
    assert len(file.functions["package"].sites) == 1


@pytest.mark.parametrize("content", [b"def (", b"\xff\xfe", b"", b"\0"])
def test_what_is_no_source_has_none(content: bytes) -> None:
    assert read(content) is None
