"""Tests that are left out, and what a test shared with them."""

import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.report import Outcome
from app.runners.evaluators.testing.running.run import Harness
from app.workspaces.files.limits import DEFAULT_LIMITS
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

WRITES_A_FILE = """import os
import pytest

class TestLog:
    @classmethod
    def teardown_class(cls):
        os.remove("shop.log")
        os.mkdir("closed")

    @pytest.fixture
    def own(self):
        yield
        {end}

    def test_before(self, own):
        pass

    def test_writes(self):
        open("shop.log", "w").close()


def test_after():
    assert os.path.isdir("closed") is {closed}
"""


@pytest.mark.parametrize(
    ("end", "without", "outcome"),
    [
        pytest.param("pass", ["test_writes"], Outcome.PASSED, id="the class cannot end"),
        pytest.param("1 / 0", ["test_writes"], Outcome.ERROR, id="its own fixture cannot end"),
        pytest.param("pass", [], Outcome.PASSED, id="nothing is left out"),
    ],
)
async def test_only_what_is_its_own_is_blamed_on_the_test_before(
    tmp_path: Path, end: str, without: list[str], outcome: Outcome
) -> None:
    text = WRITES_A_FILE.format(end=end, closed=not without)
    (tmp_path / "test_log.py").write_text(text)
    names = [f"test_log.py::TestLog::{each}" for each in without]
    harness = Harness(python=Path(sys.executable), base=tmp_path, seconds=PATIENCE, without=names)
    report = await harness.run(whole_tree(tmp_path, DEFAULT_LIMITS))
    assert report.tests["test_log.py::TestLog::test_before"].outcome is outcome
    assert report.tests["test_log.py::test_after"].ok, report.tests["test_log.py::test_after"].message
