"""Runs the tests of one tree in a private copy, confined, and returns the report."""

import asyncio
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.runners.evaluators.testing.layout.config import packages_of_pytest, settings_for
from app.runners.evaluators.testing.layout.own_options import with_own_options
from app.runners.evaluators.testing.layout.tree_name import tree_name
from app.runners.evaluators.testing.layout.trees import RunTree, materialise
from app.runners.evaluators.testing.running.arguments import plugin_sources, pytest_arguments
from app.runners.evaluators.testing.running.generated import write_generated
from app.runners.evaluators.testing.running.record_pipe import RecordPipe
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.report_reading import read_report
from app.runners.evaluators.testing.running.rewritten import rewritten
from app.runners.evaluators.testing.running.secret import draw_secret, handed_over
from app.runners.evaluators.testing.running.sharding import Sharding, whole_of
from app.runners.evaluators.testing.running.watch import Watch
from app.runners.evaluators.tooling import ToolTroubleError, activation
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.extensions.built import Built
from app.workspaces.environments.tox_variables import variables_of_tox
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.files.removal import remove_tree
from app.workspaces.files.temporary import in_thread, temporary_directory
from app.workspaces.process import ProcessOutcome
from app.workspaces.together import all_together

RUNNER = Path(__file__).parents[1] / "pytest_runner" / "__main__.py"

_NICE = 5
"""Lists of tests give way to the tests themselves."""

RAISE_LIMIT = "If they need longer, raise evaluators.pytest.timeout in phaserunner.toml"
"""The next step if tests of the base did not end."""

# Developers have a git identity, and tests that commit need one. Any other setting of git overrides it.
_GIT_CONFIG = "[user]\n\tname = Tests\n\temail = tests@example.invalid\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """Where and how tests run.

    Attributes:
        python: the interpreter; it must have pytest 7.4 or newer.
        base: the tree with the configuration that counts; None if each tree's own does.
        seconds: time limit of one run.
        sandbox: confines the tests. They reach the copy in which they run, and no network.
        limits: limits on the trees that are copied.
        traceback: pytest's style for failures; `native` is the cheapest that tells something, and parses no
            source. With `no`, assertions are not rewritten either, as nothing reads what they say.
        test_seconds: how long one test may take before it is ended, by the id of its function. Tests of other
            functions end only with the run.
        without: ids of tests that must not run.
        patience: how many seconds one test may take; None means as many as the run.
        leaves_out: whether a run leaves tests out if those that do not pass would wait longer than that in
            all, or if all would take longer than the run may.
        built: the compiled modules for the copies of trees that are run.
        sharding: how runs of all tests are shared among processes; None means one process.
        seed: for what chance decides alike in all runs, of candidate and base. No test may know it.
        started: set as soon as tests run. Preparing a run takes longer beside other work of this process.
    """

    python: Path
    base: Path | None
    seconds: float
    sandbox: Sandbox = field(default_factory=Sandbox)
    limits: WorkspaceLimits = DEFAULT_LIMITS
    traceback: str = "short"
    test_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    without: Collection[str] = ()
    patience: float | None = None
    leaves_out: bool = False
    built: Built = field(default_factory=Built)
    sharding: Sharding | None = None
    seed: str = field(default_factory=secrets.token_hex)
    started: asyncio.Event = field(default_factory=asyncio.Event, compare=False)

    @property
    def limit_of_test(self) -> float:
        """Return how many seconds one test may take on an idle machine."""
        return self.seconds if self.patience is None else self.patience

    def fill(self, tree: RunTree, copy: Path) -> None:
        """Fill a new directory with a tree, and with what a build makes of it."""
        materialise(tree, copy)
        write_generated(self.base or copy, copy)
        self.built.lay(copy)

    async def run(
        self,
        tree: RunTree,
        *,
        ids: Collection[str] | None = None,
        collect_only: bool = False,
        short: asyncio.Event | None = None,
    ) -> RunReport:
        """Run the tests of a tree. Its root is on the import path, as with `python -m pytest`.

        A run of all tests may be shared among processes, each with a copy of the tree.

        The tests run in a copy, which is removed afterwards. Paths in the report are relative to it.

        Args:
            tree: the files.
            ids: the tests of these files to run; the id of a function means all its rows. None means all.
            collect_only: list the tests and run none.
            short: set as soon as a test is left out.

        Raises:
            ToolTroubleError: the interpreter cannot be started, or its pytest does not work.
            SandboxUnavailableError: the tests cannot be confined here.
        """
        if self.sharding is None or ids is not None or collect_only:
            return await self._run(tree, ids, short, collect_only=collect_only)
        shards = await asyncio.to_thread(self.sharding.shards_of, tree)
        reports = await all_together(self._run(each, None, short, collect_only=False) for each in shards)
        return reports[0] if len(reports) == 1 else whole_of(reports)

    async def _run(
        self, tree: RunTree, ids: Collection[str] | None, short: asyncio.Event | None, *, collect_only: bool
    ) -> RunReport:
        async with run_directory() as place:
            run = await in_thread(self._prepare, tree, place, ids, collect_only=collect_only)
            if not collect_only:
                self.started.set()
            report = await self._execute(run, short)
            if tree.is_own:
                report = replace(report, rewritten=await asyncio.to_thread(rewritten, tree, run.copy))
        if report.ending is PytestEnding.UNSTARTED:
            raise ToolTroubleError(f"pytest cannot be started by {self.python}: {report.text[-500:]}")
        if report.ending is PytestEnding.UNFIT:
            raise ToolTroubleError(
                f"{self.python} has pytest {report.version}; version 7.4 or newer is needed"
            )
        return await asyncio.to_thread(_relative, report, run.copy)

    def _prepare(
        self, tree: RunTree, place: Path, ids: Collection[str] | None, *, collect_only: bool
    ) -> "_PreparedRun":
        # The writable directory is a mount inside, and tests may ask whether their tree is one.
        copy, given = place / "vault" / tree_name(self.base), place / "given"
        self.fill(tree, copy)
        # Without a base, the tree's own configuration is the only one.
        settings = settings_for(copy, self.base or copy)
        if tree.is_own:
            settings = with_own_options(settings, copy, self.base)
        given.mkdir()
        arguments = pytest_arguments(tree, copy, settings, given)
        arguments += [f"--tb={self.traceback}", *(["--assert=plain"] if self.traceback == "no" else [])]
        task = {
            "tree": str(copy),
            "arguments": [*arguments, "--collect-only", "--assert=plain"] if collect_only else arguments,
            "is_module": settings.is_module,
            "niceness": _NICE if collect_only else 0,
            "sources": plugin_sources(tree, copy, settings, given),
            "trusted": sorted(tree.trusted),
            "pinned": sorted(tree.pinned),
            "aside": packages_of_pytest(self.base, settings) if self.base else [],
            "ids": None if ids is None else sorted(ids),
            "test_seconds": dict(self.test_seconds),
            "without": sorted(self.without),
            "patience": self.patience if self.leaves_out else None,
            "seconds": self.seconds,
            "ends_at": time.monotonic() + self.seconds,
            "only": None if tree.only is None else sorted(tree.only),
            "elsewhere": sorted(tree.elsewhere),
            "watched": sorted(tree.watched),
        }
        (given / "task.json").write_text(json.dumps(task))
        (given / "gitconfig").write_text(_GIT_CONFIG)
        # The directory may be read by another user.
        for path in (place, given, *given.iterdir()):
            path.chmod(0o755)
        scraps = [place / "home", place / "tmp"]
        for path in scraps:
            path.mkdir()
        own = variables_of_tox(self.base or copy, copy)
        return _PreparedRun(copy, given, {**own, "HOME": str(scraps[0]), "TMPDIR": str(scraps[1])})

    async def _execute(self, run: "_PreparedRun", short: asyncio.Event | None) -> RunReport:
        secret = draw_secret()
        pipe = RecordPipe(short)
        with handed_over(secret) as reading:
            try:
                fds = (pipe.writing, reading)
                process = await self._ended(self._start(run, fds), run, pipe)
            except (FileNotFoundError, PermissionError) as error:
                reason = f"{error.strerror}: {error.filename}"
                raise ToolTroubleError(f"{self.python} cannot be started: {reason}") from error
            finally:
                records = await pipe.finish()
        return await asyncio.to_thread(read_report, records, process, secret)

    async def _ended(
        self, starting: Coroutine[Any, Any, ProcessOutcome], run: "_PreparedRun", pipe: RecordPipe
    ) -> ProcessOutcome:
        if self.patience is None:
            return await starting
        program = os.path.abspath(self.python)  # noqa: ASYNC240 - asks nothing of the file system
        watch = Watch(program, run.mark, self.patience, lambda: pipe.last_record)
        return await watch.over(starting)

    async def _start(self, run: "_PreparedRun", fds: tuple[int, int]) -> ProcessOutcome:
        # Without `..`, but not resolved, because an environment is identified by the link to its interpreter.
        python = Path(os.path.abspath(self.python))  # noqa: ASYNC240 - asks nothing of the file system
        return await self.sandbox.run(
            # Not isolated (`-I`): tests and their code may read `sys.flags`, as `ssl` does, and their child
            # processes inherit the flag. The environment is ours, and the runner clears its own path.
            [str(python), "-s", "-B", str(RUNNER), *map(str, fds), run.mark],
            cwd=run.copy,
            env={
                **run.variables,
                **activation(python),
                "LANG": "C.UTF-8",
                "LC_ALL": "C.UTF-8",
                "PYTHONDONTWRITEBYTECODE": "1",
                "GIT_CONFIG_SYSTEM": str(run.given / "gitconfig"),
            },
            timeout=self.seconds,
            confinement=Confinement(
                writable=(run.copy.parent,), readable=(RUNNER.parent, run.given, *interpreter_paths(python))
            ),
            output_limit=200_000,
            pass_fds=fds,
        )


@dataclass(frozen=True, slots=True)
class _PreparedRun:
    """What one run needs: its directories, and the variables that differ between projects and runs."""

    copy: Path
    given: Path
    variables: Mapping[str, str]

    @property
    def mark(self) -> str:
        """The part of the command line that only this run has."""
        return str(self.given / "task.json")


@asynccontextmanager
async def run_directory() -> AsyncGenerator[Path]:
    """Create a directory for one run. Remove it afterwards, whatever the tests left in it."""
    async with temporary_directory(_make_directory, _remove) as path:
        yield path


async def _remove(path: Path) -> None:
    try:
        await in_thread(shutil.rmtree, path)
    except (OSError, RecursionError):
        await remove_tree(path)


def _make_directory() -> Path:
    """Create a directory whose name differs between runs only in digits.

    Real tests take paths apart by their letters (`path.lstrip(root)`), and must not fail by chance.
    """
    parent = Path(tempfile.gettempdir()).resolve()
    while True:
        path = parent / f"evaluate-{secrets.randbelow(10**16):016}"
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path


def _relative(report: RunReport, copy: Path) -> RunReport:
    """Remove the copy's path and the run's name from all texts, because they differ in every run."""

    def cut(text: str) -> str:
        return text.replace(f"{copy}/", "").replace(str(copy.parent.parent), "<run>")

    return replace(
        report,
        tests={name: replace(each, message=cut(each.message)) for name, each in report.tests.items()},
        problems=tuple(replace(each, message=cut(each.message)) for each in report.problems),
        text=cut(report.text),
    )
