"""A copy of a tree that is cancelled leaves no directory behind."""

import asyncio
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator
from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.run import Harness
from app.runners.loop.tree import copied_tree
from app.workspaces.files.limits import DEFAULT_LIMITS

pytestmark = pytest.mark.anyio

Job = Callable[[Path], Coroutine[Any, Any, object]]


async def _command(tree: Path) -> None:
    await CommandEvaluator(name="check", command="true").evaluate("coding", "", {"workspace_ref": str(tree)})


async def _tests(tree: Path) -> None:
    whole = await asyncio.to_thread(whole_tree, tree, DEFAULT_LIMITS)
    await Harness(python=Path(sys.executable), base=None, seconds=60).run(whole)


async def _held_out(tree: Path) -> None:
    await HeldOutEvaluator(files={"test_a.py": "def test_a(): ..."}).at_base(tree)


async def _loop(tree: Path) -> None:
    async with copied_tree(tree, {}):
        raise AssertionError("cancelled before")


JOBS: dict[str, Job] = {"command": _command, "tests": _tests, "held-out": _held_out, "loop": _loop}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
async def test_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: Job) -> None:
    tree, scraps = tmp_path / "tree", tmp_path / "scraps"
    for path in (tree, scraps):
        path.mkdir()
    (tree / "a.py").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(scraps))
    began, may_end, copyfile = threading.Event(), threading.Event(), shutil.copyfile

    def slow(source: Any, target: Any, **options: Any) -> Any:
        began.set()
        assert may_end.wait(60)
        Path(target).parent.mkdir(parents=True, exist_ok=True)  # as if it were deeper in the tree
        return copyfile(source, target, **options)

    monkeypatch.setattr(shutil, "copyfile", slow)
    running = asyncio.create_task(job(tree))
    await asyncio.to_thread(began.wait)
    running.cancel()
    # One that does not wait for the copy ends by itself.
    done, _ = await asyncio.wait({running}, timeout=0.5)
    assert not done
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert list(scraps.iterdir()) == []
