"""The benchmark of long suites says what it measured, and on which projects."""

import os
import sys

import pytest

from benchmarks.panel_time import PROJECTS, LongSuite, TimedRound, Took, read_projects, row
from benchmarks.processor import TreeMeter

SUITE = LongSuite("toolz", "1.0.0", "toolz/utils.py")


def timed(plain: float, panel: float, verdict: str = "passed") -> TimedRound:
    shares = {"away": panel / 4, "tests": panel / 4, "types": panel / 4, "lint": panel / 4}
    return TimedRound(Took(plain, {"other": plain}), Took(panel, shares), verdict, {"pytest": panel}, "")


def test_the_list_names_eight_projects_or_more_with_pinned_versions() -> None:
    projects = read_projects(PROJECTS.read_text("utf-8"))
    assert len({each.name for each in projects}) == len(projects) >= 8
    assert all(each.version[0].isdigit() and each.module.endswith(".py") for each in projects)


@pytest.mark.parametrize(
    ("rounds", "cell"),
    [
        pytest.param([timed(10, 19), timed(10, 25), timed(10, 18)], "1.90 (1.80 to 2.50), met", id="met"),
        pytest.param(
            [timed(10, 21), timed(10, 25), timed(10, 18)], "2.10 (1.80 to 2.50), **missed**", id="not"
        ),
        pytest.param([timed(2, 10)], "5.00 (5.00 to 5.00)", id="a short suite has no target"),
    ],
)
def test_the_median_of_the_rounds_is_compared_with_the_target(rounds: list[TimedRound], cell: str) -> None:
    line = row(SUITE, rounds)
    assert f"| {cell} |" in line
    assert "| 25 % | 25 % | 25 % | 25 % | passed |" in line


def test_processor_time_of_children_of_children_counts_with_its_kind() -> None:
    work = "import time\nend = time.process_time() + 1.5\nwhile time.process_time() < end: pass"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"
    with TreeMeter({"nested": "import subprocess"}) as meter:
        child = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", nested])
        os.waitpid(child, 0)
    assert meter.by_kind()["nested"] >= 0.5
