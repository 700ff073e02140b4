"""Discovery passes with a plan that says something."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.plan_artifact import PlanArtifactEvaluator

pytestmark = pytest.mark.anyio

PLAN = """# Plan

The parser reads durations such as 1h30m and gives seconds. It refuses what it does not understand, with a
message that names the position of the first character that does not belong there.

## Steps
1. Write `duration.py` with a function `parse`.
2. Run the tests.
"""


@pytest.mark.parametrize(
    ("content", "lack"),
    [
        pytest.param(PLAN, None, id="a plan"),
        pytest.param(PLAN.replace("1.", "-").replace("2.", "-"), None, id="bullets"),
        pytest.param(PLAN.replace("1.", "\n\u3000*").replace("2.", "\t2)"), None, id="indented"),
        pytest.param("", "has 0 words", id="empty"),
        pytest.param("# One\n## Two\n### Three\n", "has 0 words", id="only headings"),
        pytest.param("word " * 200, "names no steps", id="no steps"),
        pytest.param("- do the work and test it\n" * 12, "repeats 6 words", id="one line again and again"),
        pytest.param("- a\n- b\n", "words besides its headings", id="too short"),
        pytest.param(b"\xff\xfe\0plan", "is not text", id="binary"),
        pytest.param("x" * 1_000_001, "larger than a plan", id="too large"),
    ],
)
async def test_plans(context, content: str | bytes, lack: str | None) -> None:
    result = await PlanArtifactEvaluator().evaluate(
        "discovery", "", context({"implementation_plan.md": content})
    )
    assert result.passed is (lack is None)
    assert lack is None or lack in " ".join(result.suggestions)


class _Counting(ThreadPoolExecutor):
    """Counts the calls that it runs."""

    calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        return super().submit(fn, *args, **kwargs)


async def test_a_plan_is_read_in_a_thread(context) -> None:
    made = context({"implementation_plan.md": PLAN})
    with _Counting(max_workers=1) as threads:
        asyncio.get_running_loop().set_default_executor(threads)
        result = await PlanArtifactEvaluator().evaluate("discovery", "", made)
    assert (result.status, threads.calls) == ("passed", 1)


async def test_no_plan(context) -> None:
    made = context({"plan.md": PLAN})
    result = await PlanArtifactEvaluator().evaluate("discovery", "", made)
    assert result.status == "failed"
    assert result.score == 0.0
    assert "implementation_plan.md is missing" in result.feedback
    assert "--phases coding" in result.metadata["for_reviewers"]["feedback"]
    assert "--phases" not in result.feedback, "the agent cannot choose its phases"


async def test_a_plan_that_says_too_little_has_no_hint_for_reviewers(context) -> None:
    result = await PlanArtifactEvaluator().evaluate("discovery", "", context({"implementation_plan.md": ""}))
    assert "for_reviewers" not in result.metadata


async def test_a_link_is_no_plan(context, tree) -> None:
    made = context({})
    target = tree({"plan": PLAN}) / "plan"
    Path(made["workspace_ref"], "implementation_plan.md").symlink_to(target)  # noqa: ASYNC240
    assert (await PlanArtifactEvaluator().evaluate("discovery", "", made)).status == "failed"


async def test_no_workspace() -> None:
    assert (await PlanArtifactEvaluator().evaluate("discovery", "", {})).status == "skipped"
