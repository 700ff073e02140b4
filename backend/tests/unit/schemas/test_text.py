r"""A document is made storable without a change to texts in which `\u0000` is written out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.schemas.text import storable_document, storable_json

PIECES = st.sampled_from(["\0", "\\", "u0000", "\\u0000", '"', "a", "\u2400"])
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param("a\0b", "a␀b", id="NUL"),
        pytest.param("\0\0", "␀␀", id="two in a row"),
        pytest.param(r"[\u0000-\u001f]", r"[\u0000-\u001f]", id="written out"),
        pytest.param(r"\\u0000", r"\\u0000", id="written out and escaped"),
        pytest.param("\\\0", "\\␀", id="NUL after a backslash"),
        pytest.param("\\u0000\0\\\\u0000", "\\u0000␀\\\\u0000", id="mixed"),
    ],
)
def test_only_a_real_nul_is_replaced(text: str, stored: str) -> None:
    assert json.loads(storable_document(json.dumps(text))) == stored


@given(st.dictionaries(TEXTS, st.lists(TEXTS, max_size=3), max_size=3))
def test_a_document_reads_as_its_texts_would_be_stored(value: dict[str, list[str]]) -> None:
    for is_ascii in (True, False):
        document = json.dumps(value, ensure_ascii=is_ascii)
        assert json.loads(storable_document(document)) == storable_json(value)
