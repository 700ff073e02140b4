"""Runs `phaserunner up` with its two examples, for the checks that look at what comes of it."""

import contextlib
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 600
EXPECTED = {"completed", "waiting"}  # what becomes of the two examples


@contextlib.contextmanager
def started(
    program: Path, work: Path, environment: Mapping[str, str], log: Path, account: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `phaserunner up` while the block runs. Its evaluators get the patience of a busy machine."""
    limits = (f"EVALUATOR_{what}_TIMEOUT" for what in ("LINT", "TYPE_CHECK", "TEST"))
    patience = dict.fromkeys(limits, str(PATIENCE_SECONDS))
    rights: dict[str, Any] = (
        {} if account is None else {"user": account, "group": account, "extra_groups": []}
    )
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [program, "up"],
            cwd=work,
            env={**environment, **patience},
            stdout=sink,
            stderr=sink,
            start_new_session=True,
            **rights,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def examples_at_rest(address: str) -> list[dict[str, Any]]:
    """Give the runs once both examples have come to rest; before, an empty list."""
    runs = ask(f"{address}/api/v1/runs")["items"]
    states = [{"status": each["status"], "id": each["id"]} for each in runs]
    at_rest = len(states) == len(EXPECTED) and all(each["status"] in {*EXPECTED, "failed"} for each in states)
    return states if at_rest else []


def wait_for(condition: Callable[[], Any], process: subprocess.Popen[bytes], log: Path) -> Any:
    """Ask until there is something; the service must stay alive meanwhile."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        demand(process.poll() is None, f"phaserunner up ended with {process.returncode}:\n{log.read_text()}")
        with contextlib.suppress(urllib.error.URLError, TimeoutError, ConnectionError):
            if found := condition():
                return found
        time.sleep(0.2)
    raise SystemExit(f"nothing after {PATIENCE_SECONDS} seconds:\n{log.read_text()}")


def ask(url: str) -> Any:
    """Get JSON."""
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def free_port() -> int:
    """Give a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def demand(holds: bool, otherwise: str) -> None:
    """End with an error unless a condition holds."""
    if not holds:
        raise SystemExit(otherwise)
