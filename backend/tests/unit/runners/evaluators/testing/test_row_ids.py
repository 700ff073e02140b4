"""Ids of tests whose parameters contain the directory of the run."""

import pytest

from app.runners.evaluators.testing.pytest_runner.row_ids import RowIds


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("/run/7/tree/data/1.txt", "data/1.txt"),
        ("/run/7/tree", "."),
        (">>> Working directory:\n/run/7/tree\n", ">>> Working directory:\\n.\\n"),
        ("café /run/7/tree/x", "caf\\xe9 x"),
        ("/elsewhere/data", None),
        (7, None),
    ],
)
def test_the_directory_of_a_run_is_no_part_of_an_id(value: object, found: str | None) -> None:
    assert RowIds("/run/7/tree").pytest_make_parametrize_id(value) == found
