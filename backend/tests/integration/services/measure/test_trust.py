"""A small sample of what the benchmarks measure: the whole panel on good code, stubs and single mistakes."""

import json
from pathlib import Path

import pytest

from app.composition.services import build_calibration
from app.composition.tools import build_tools
from app.core.config import Settings
from app.corpora.humaneval import humaneval_cases
from app.services.local.calibration import Panel

pytestmark = pytest.mark.anyio

PROBLEMS = [
    {
        "task_id": "Sample/0",
        "prompt": (
            "from typing import List\n\n\n"
            "def longest(words: List[str]) -> str:\n"
            '    """Give the first of the longest words; of none, the empty one."""\n'
        ),
        "entry_point": "longest",
        "canonical_solution": (
            '    best = ""\n    for l in words:\n        if len(l) > len(best): best = l\n    return best\n'
        ),
        "test": (
            "def check(candidate):\n"
            "    assert candidate([]) == ''\n"
            "    assert candidate(['a', 'bcd', 'ef', 'ghi']) == 'bcd'\n"
        ),
    },
    {
        "task_id": "Sample/1",
        "prompt": (
            "def half(number):\n    return number / 2\n\n\n"
            "def mean(numbers: list):\n"
            '    """Give the middle between the smallest and the largest number."""\n'
        ),
        "entry_point": "mean",
        "canonical_solution": "    low, high = min(numbers), max(numbers)\n    return half(low + high)\n",
        "test": (
            "METADATA = {}\n\n\n"
            "def check(candidate):\n"
            "    assert candidate([4, 2, 9]) == 5.5\n"
            "    assert abs(candidate([0.1]) - half(0.2)) < 1e-9\n"
        ),
    },
]


async def test_good_code_passes_and_stubs_and_mistakes_do_not(tmp_path: Path) -> None:
    data = tmp_path / "problems.jsonl"
    data.write_text("".join(json.dumps(each) + "\n" for each in PROBLEMS))
    cases = humaneval_cases(data, mutations=2)
    report = await build_calibration(build_tools(Settings(_env_file=None))).calibrate(
        "sample", cases, Panel(workers=2)
    )
    verdicts = {each.name: (each.verdict, each.reason) for each in report.outcomes}
    assert len(verdicts) == 8
    assert report.surprises == [], verdicts
    assert report.panel.unjudged == [], verdicts
