"""Judging many workspaces at once whose tests try to stay leaves no process, no mount and no file."""

from pathlib import Path

import pytest

from benchmarks.leftovers import Leftovers, leave

pytestmark = pytest.mark.anyio


async def test_nothing_is_left(tmp_path: Path) -> None:
    # Twenty here, with the gate that runs foreign code; a hundred with the whole panel are a benchmark.
    report, left = await leave(20, 6, tmp_path, ("pytest",))
    assert left == Leftovers(processes=[], children=set(), mounts=set(), files=[])
    assert (len(report.outcomes), report.panel.unjudged, report.surprises) == (20, [], [])
