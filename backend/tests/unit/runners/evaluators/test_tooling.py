"""Limits that are meant for an idle machine."""

import os
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.tooling import (
    ToolTroubleError,
    excerpt,
    run_tool,
    seconds_for,
    seconds_here_for,
    stretched,
)


@pytest.mark.parametrize(
    ("load", "seconds"),
    [
        pytest.param(0.0, 10.0, id="idle"),
        pytest.param(2.0, 10.0, id="as many processes as processors"),
        pytest.param(6.0, 30.0, id="three times as many"),
        pytest.param(200.0, 40.0, id="never more than four times"),
    ],
)
def test_a_limit_grows_with_the_load_of_each_processor(
    monkeypatch: pytest.MonkeyPatch, load: float, seconds: float
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert stretched(10.0) == seconds
    assert seconds_here_for({}, 10.0) == seconds
    assert seconds_here_for({"limits": {"seconds": 5.0}}, 10.0) == 5.0
    assert seconds_for({}, 10.0) == 10.0
    assert stretched(0.0001) < 0.001, "a limit that lets nothing run stays one"


def test_a_system_that_does_not_tell_its_load_leaves_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert stretched(10.0) == 10.0


def test_an_excerpt_is_the_end_without_colours() -> None:
    assert excerpt("\x1b[1;31mBad\x1b[0m: x\n") == "Bad: x"
    assert excerpt("\x1b[31m" + "a" * 10 + "\x1b[0mend", 5) == "…aaend"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        pytest.param(["-m", "wait"], "wait", id="a module"),
        pytest.param(["wait.py", "-m"], Path(sys.executable).name, id="a program"),
    ],
)
async def test_a_tool_that_takes_too_long_is_named(arguments: list[str], name: str, tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(ToolTroubleError, match=f"^{name} did not finish within 0.1 seconds$"):
        await run_tool([sys.executable, *arguments], cwd=tmp_path, env={}, timeout=0.1)
