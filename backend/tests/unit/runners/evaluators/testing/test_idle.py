"""A run that only waits is ended before its limit, and one that works is not."""

import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox

pytestmark = pytest.mark.anyio

FOREVER = 3_600.0


async def ran(place: Path, body: str, *, mode: SandboxMode = SandboxMode.PREFERRED) -> RunReport:
    (place / "test_it.py").write_text(f"import subprocess, sys, time\n\ndef test_it():\n    {body}\n")
    sandbox = Sandbox(SandboxSettings(mode=mode))
    harness = Harness(python=Path(sys.executable), base=None, seconds=FOREVER, sandbox=sandbox, patience=2.0)
    return await harness.run(whole_tree(place))


@pytest.mark.parametrize("mode", [SandboxMode.PREFERRED, SandboxMode.OFF])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("time.sleep(3_600)", id="sleeps"),
        pytest.param("while True: time.sleep(0.1)", id="asks again and again"),
        pytest.param(
            "subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE).wait()",
            id="waits for a child",
        ),
    ],
)
async def test_what_only_waits_is_ended(tmp_path: Path, body: str, mode: SandboxMode) -> None:
    report = await ran(tmp_path, body, mode=mode)
    assert report.ending is PytestEnding.TIMED_OUT
    assert report.unfinished == ("test_it.py::test_it",)


WORK = "began = time.process_time()\nwhile time.process_time() < began + 4: pass"
CHILD = f"subprocess.run([sys.executable, '-c', {'import time' + chr(10) + WORK!r}])"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(WORK.replace("\n", "\n    "), id="itself"),
        pytest.param(CHILD, id="a child"),
    ],
)
async def test_what_works_for_long_is_not_ended(tmp_path: Path, body: str) -> None:
    report = await ran(tmp_path, body)
    assert report.ending is PytestEnding.COMPLETE
    assert report.tests["test_it.py::test_it"].ok
