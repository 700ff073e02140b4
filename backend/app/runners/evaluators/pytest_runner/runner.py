"""Runs pytest in a child process and reports through an inherited pipe what happened, record by record.

Started as `python -I runner.py FD SOURCES PYTEST-ARGUMENTS…` in the tree whose tests are run. It stands
alone: the interpreter may be any that has pytest, so nothing of this program can be imported here.

Each record is one line of JSON with a running number `n` and a `kind`: `start`, then `problem`, `deselected`,
`collected` and `test` as they come, then `finish` with the exit code. A process that ends without `finish`,
or with another status than the one reported, did not run to its end, whatever else it wrote.
"""

import json
import os
import re
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

import pytest

_IDS_PER_RECORD = 200
_MESSAGE_CHARS = 1500
_DETAILED_FAILURES = 50
_SCANNED_BYTES = 8_000_000


class Channel:
    """Writes numbered records to a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._number = 0

    def send(self, kind: str, **fields: Any) -> None:
        """Write one record, whole."""
        self._number += 1
        line = json.dumps({"n": self._number, "kind": kind, **fields}).encode() + b"\n"
        while line:
            line = line[os.write(self._fd, line) :]


class Recorder:
    """The pytest plugin that reports."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._running: dict[str, dict[str, Any]] = {}
        self._failures = 0

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a file that cannot be collected, or that skips itself whole."""
        if report.outcome != "passed":
            self._channel.send(
                "problem", id=report.nodeid, outcome=report.outcome, message=_message(report.longrepr)
            )

    def pytest_deselected(self, items: "list[pytest.Item]") -> None:
        """Report how many tests something took out of the run."""
        self._channel.send("deselected", count=len(items))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Report the tests that are going to run."""
        ids = [item.nodeid for item in session.items]
        for start in range(0, max(1, len(ids)), _IDS_PER_RECORD):
            self._channel.send("collected", ids=ids[start : start + _IDS_PER_RECORD])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst that set-up, call and tear-down of a test report."""
        test = self._running.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0, "message": ""})
        test["seconds"] += report.duration
        outcome = _outcome(report)
        if outcome != "passed" and test["outcome"] not in ("failed", "error"):
            test["outcome"] = outcome
            test["message"] = self._detail(report, outcome)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Report a test that is over."""
        test = self._running.pop(nodeid, None)
        if test is not None:
            self._channel.send("test", id=nodeid, **test)

    def _detail(self, report: pytest.TestReport, outcome: str) -> str:
        if outcome in ("failed", "error"):
            self._failures += 1
            if self._failures > _DETAILED_FAILURES:
                return ""
        return _message(report.longrepr)


def _outcome(report: pytest.TestReport) -> str:
    expected_to_fail = hasattr(report, "wasxfail")
    if report.outcome == "failed":
        return "failed" if report.when == "call" else "error"
    if report.outcome == "skipped":
        return "xfailed" if expected_to_fail else "skipped"
    return "xpassed" if expected_to_fail else "passed"


def _message(longrepr: Any) -> str:
    """Give place and assertion of a failure, or the reason of a skip."""
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        text = f"{crash.path}:{crash.lineno}: {crash.message}"
    elif isinstance(longrepr, tuple):
        text = str(cast("tuple[object, ...]", longrepr)[-1])
    else:
        text = str(longrepr or "")[-_MESSAGE_CHARS:]
    return text[:_MESSAGE_CHARS]


def needed_plugins(sources: "list[str]") -> "list[str]":
    """Name the installed plugins that the given files mention.

    Loading every installed plugin costs more time than most test runs; a project that needs one says so in
    its configuration or in its tests (a marker, a fixture, an import).
    """
    text = _read_all(sources)
    names = {entry.name for entry in entry_points(group="pytest11")}
    return [name for name in sorted(names) if re.search(rf"(?<![a-z0-9]){re.escape(_word(name))}", text)]


def _word(plugin: str) -> str:
    return re.sub(r"^pytest[_-]?|[_-]?pytest$", "", plugin.lower()) or plugin


def _read_all(sources: "list[str]") -> str:
    parts: list[str] = []
    left = _SCANNED_BYTES
    for source in sources:
        try:
            with Path(source).open("rb") as file:
                part = file.read(left)
        except OSError:
            continue
        left -= len(part)
        parts.append(part.decode("utf-8", "replace").lower())
    return "\n".join(parts)


def main(arguments: "list[str]") -> int:
    """Run the tests; returns pytest's exit code."""
    fd, sources = int(arguments[0]), json.loads(Path(arguments[1]).read_text())
    os.set_inheritable(fd, False)
    channel = Channel(fd)
    channel.send("start", pytest=pytest.__version__, python=sys.version.split()[0])
    plugins = [part for name in needed_plugins(sources) for part in ("-p", name)]
    # As `python -m pytest` does, but only now: nothing in the tree could stand in for pytest itself.
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = ["pytest", *arguments[2:]]
    code = int(pytest.main([*plugins, *arguments[2:]], plugins=[Recorder(channel)]))
    channel.send("finish", code=code)
    return code


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and exit handlers of the tests have no say in how this process ends.
    os._exit(status & 0xFF)
