"""The glossary names each term once, in one sentence, with a module that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| Term ")
]


def test_the_page_has_terms() -> None:
    assert len(ROWS) > 50


def test_each_term_stands_once() -> None:
    terms = [row[0] for row in ROWS]
    assert sorted(terms) == sorted(set(terms))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].replace(" ", "-"))
def test_a_term_has_one_short_sentence_and_a_module_that_exists(row: tuple[str, ...]) -> None:
    _, meaning, module = row
    assert 3 <= len(meaning.split()) <= 25
    assert ". " not in meaning, "one sentence"
    path = re.fullmatch(r"`([a-z_/]+\.py)`", module)
    assert path is not None
    assert (ROOT / "backend" / "app" / path[1]).is_file()
