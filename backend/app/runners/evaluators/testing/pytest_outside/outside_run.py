"""Starts the judge's and the candidate's process, and reads the judge's records."""

import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.tree_name import tree_name
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.pytest_outside.outside_records import OutsideRun, read_records
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport
from app.runners.evaluators.testing.pytest_outside.pace import LATE
from app.runners.evaluators.testing.running.run import (
    Harness,
    plugin_sources,
    pytest_arguments,
    run_directory,
)
from app.runners.evaluators.tooling import activation
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.environments.tox_variables import variables_of_tox
from app.workspaces.files.temporary import in_thread
from app.workspaces.process import ProcessOutcome

_PACKAGE = Path(__file__).parent
_PLUGINS = _PACKAGE.parent / "pytest_runner"
_LAUNCH = _PACKAGE / "launch.py"
_OUTPUT_LIMIT = 32_000_000
_NO_LOG_FILE = ("-o", "log_file=")
"""Pytest would write the project's log into the tree, which is not writable there."""

_SHORT_OF_TIME = 2.0
_MOST_RESTARTS = 3


@dataclass(frozen=True, slots=True)
class Outside:
    """Runs tests away from the candidate's code.

    Attributes:
        harness: how the tests ran beside that code; here they run under the same interpreter and settings.
    """

    harness: Harness

    async def judge(
        self,
        tree: RunTree,
        ids: Collection[str],
        *,
        quick: Collection[str] = (),
        detailed: bool = False,
        budget: float | None = None,
        stop: asyncio.Event | None = None,
    ) -> OutsideReport:
        """Run tests that passed beside the candidate's code again, away from it, and report the results.

        Args:
            tree: as for `run`.
            ids: the tests.
            quick: the tests among them that took almost no time beside the code.
            detailed: whether the reason of a failure shows the values, which takes longer.
            budget: seconds after which it ends at the next test; None is the limit of the tests.
            stop: ends it at the next test, once set.

        Raises:
            SandboxUnavailableError: the processes must be confined and cannot be.
            OSError: the interpreter cannot be started.
        """
        files = {each.split("::", 1)[0] for each in ids}
        run = await self.run(tree, files, ids, detailed=detailed, budget=budget, stop=stop)
        return await asyncio.to_thread(run.report, ids, quick)

    async def run(
        self,
        tree: RunTree,
        files: Collection[str],
        ids: Collection[str] | None = None,
        *,
        detailed: bool = False,
        budget: float | None = None,
        stop: asyncio.Event | None = None,
    ) -> "OutsideRun":
        """Run tests away from the candidate's code.

        Args:
            tree: the files. Trusted ones run as tests, and the candidate's process gets none of the trusted
                code.
                Neither process can write to the copy that is made.
            files: the test files; untrusted ones are left out.
            ids: the tests of these files; None means all.
            detailed: see `judge`.
            budget: see `judge`.
            stop: see `judge`.

        Raises:
            SandboxUnavailableError: the processes must be confined and cannot be.
            OSError: the interpreter cannot be started.
        """
        began = time.monotonic()
        wanted = _Wanted(sorted(tree.trusted.intersection(files)), ids, detailed=detailed)
        limit = self.harness.seconds if budget is None else budget
        run = last = await self._run_once(tree, wanted, limit, stop)
        for _ in range(_MOST_RESTARTS):
            left = limit - (time.monotonic() - began)
            if not last.broken or last.broken == LATE or left < _SHORT_OF_TIME or (stop and stop.is_set()):
                break
            # The rest may be evidence all the same.
            wanted = wanted.after(last)
            last = await self._run_once(tree, wanted, left, stop)
            run = replace(run.joined(last), missing={**run.missing, **last.missing})
        return run

    async def _run_once(
        self, tree: RunTree, wanted: "_Wanted", limit: float, stop: asyncio.Event | None
    ) -> "OutsideRun":
        if not wanted.files:
            return OutsideRun({}, {}, 0.0)
        began = time.monotonic()
        async with run_directory() as place:
            runs = await in_thread(self._prepare, tree, place, wanted, limit)
            async with _stopping(place / "given" / "stop", stop):
                judged, died = await self._both(*runs)
        return await asyncio.to_thread(read_records, judged, died, seconds=time.monotonic() - began)

    def _prepare(
        self, tree: RunTree, place: Path, wanted: "_Wanted", budget: float
    ) -> tuple["_Program", "_Program"]:
        copy = place / "vault" / tree_name(self.harness.base)
        given, shared = place / "given", place / "shared"
        self.harness.fill(tree, copy)
        for path in (given, shared):
            path.mkdir()
        settings = settings_for(copy, self.harness.base)
        support = sorted(name for name in tree.trusted if name.endswith(".py"))
        plan: dict[str, Any] = {"tree": str(copy), "shared": str(shared), "seconds": self.harness.seconds}
        plan["data"] = sorted(name for name in tree.trusted if not name.endswith(".py"))
        (place / "candidate.json").write_text(json.dumps(plan))
        plan["pinned"] = sorted(tree.pinned)
        plan["arguments"] = [
            *pytest_arguments(tree, copy, settings, given),
            *_NO_LOG_FILE,
            # Where it cannot be made, a warning would end the run that takes warnings for errors.
            *("-o", f"cache_dir={shared / 'pytest-cache'}"),
            *([] if wanted.detailed else ["--assert=plain"]),
        ]
        plan["ids"] = None if wanted.ids is None else list(wanted.ids)
        plan |= {"done": sorted(wanted.done), "files": list(wanted.files), "budget": budget}
        plan |= {"stop": str(given / "stop"), "support": support, "seed": self.harness.seed}
        plan |= {"sources": plugin_sources(tree, copy, settings, given)}
        (given / "judge.json").write_text(json.dumps(plan))
        # The processes may run as other users.
        shared.chmod(0o777)
        for path in (place, given, *given.iterdir(), place / "candidate.json"):
            path.chmod(0o755)
        own = variables_of_tox(self.harness.base or copy, copy)
        return (
            _Program("judge", given / "judge.json", shared, copy, (copy, given, _PLUGINS), own),
            _Program("candidate", place / "candidate.json", shared, shared, _without(copy, support), own),
        )

    async def _both(
        self, judge: "_Program", candidate: "_Program"
    ) -> tuple[ProcessOutcome, ProcessOutcome | None]:
        """Run both. Return how the judge's ended, and how the candidate's did if that was first.

        Only these two have the socket pair between them.
        """
        ours, theirs = socket.socketpair()
        with ours, theirs:
            serving = asyncio.create_task(self._start(candidate, theirs))
            try:
                judged = await self._start(judge, ours)
                return judged, serving.result() if serving.done() else None
            finally:
                serving.cancel()
                await asyncio.wait([serving])

    async def _start(self, program: "_Program", end: socket.socket) -> ProcessOutcome:
        # Without `..`, but not resolved, because an environment is identified by the link to its interpreter.
        python = Path(os.path.abspath(self.harness.python))  # noqa: ASYNC240 - asks nothing of the file system
        readable = (*program.readable, program.plan, _PACKAGE, *interpreter_paths(python))
        try:
            return await self.harness.sandbox.run(
                [str(python), "-I", "-B", str(_LAUNCH), program.name, str(end.fileno()), str(program.plan)],
                cwd=program.cwd,
                env={
                    **program.variables,
                    **activation(python),
                    "LANG": "C.UTF-8",
                    "LC_ALL": "C.UTF-8",
                    "PYTHONDONTWRITEBYTECODE": "1",
                    **dict.fromkeys(("HOME", "TMPDIR"), str(program.shared)),
                },
                timeout=self.harness.seconds + _SHORT_OF_TIME,
                confinement=Confinement(writable=(program.shared,), readable=readable),
                output_limit=_OUTPUT_LIMIT,
                pass_fds=(end.fileno(),),
            )
        finally:
            # This closes the last copy of this end, so the other process notices.
            end.close()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The tests to run.

    Attributes:
        files: their files.
        ids: the tests of these files; None means all.
        done: tests that ran before the connection broke, and need not run again.
        detailed: whether the reason of a failure shows the values.
    """

    files: Sequence[str]
    ids: Collection[str] | None
    done: frozenset[str] = frozenset()
    detailed: bool = False

    def after(self, run: OutsideRun) -> "_Wanted":
        """Return what is left after a connection broke: in a test, or in the import of a file."""
        more = run.records.keys() - self.done
        files = self.files if more else [each for each in self.files if each != run.first_unread]
        return replace(self, files=files, done=self.done | more)


@asynccontextmanager
async def _stopping(file: Path, stop: asyncio.Event | None) -> AsyncGenerator[None]:
    """Create a file once an event is set."""

    async def watch(event: asyncio.Event) -> None:
        await event.wait()
        await asyncio.to_thread(file.touch)

    watching = None if stop is None else asyncio.create_task(watch(stop))
    try:
        yield
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.wait([watching])


@dataclass(frozen=True, slots=True)
class _Program:
    """One of the two programs: what it may see besides itself and the shared directory, and its variables."""

    name: str
    plan: Path
    shared: Path
    cwd: Path
    readable: tuple[Path, ...]
    variables: Mapping[str, str]


def _without(tree: Path, hidden: Sequence[str]) -> tuple[Path, ...]:
    """Return the parts of a tree that hold all of it except some files."""
    files = {tree / name for name in hidden}
    above = {parent for file in files for parent in file.parents}
    parts: list[Path] = []
    left = [tree]
    while left:
        path = left.pop()
        if path in above or path == tree:
            left += path.iterdir()
        elif path not in files and not path.is_symlink():
            parts.append(path)
    return tuple(sorted(parts))
