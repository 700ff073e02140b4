"""Calls mypy and reads its report."""

import asyncio
import shutil
import sys
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.module_names import batches, nameable
from app.runners.evaluators.static.mypy_report import findings_in, lines_of
from app.runners.evaluators.static.type_settings import BUILT_IN, TypeSettings
from app.runners.evaluators.static.type_tool import Checked, SettingsUnusableError
from app.runners.evaluators.tooling import Scratch, ToolTroubleError, excerpt, run_tool
from app.workspaces.process import ProcessOutcome

_CLEAN, _FINDINGS, _BLOCKED = 0, 1, 2
MAX_BATCHES = 8
_MAX_BLOCKERS = 8
"""Limit on separate runs, one for each file that shares its module name with another."""

_NICE, _NICEST = 5, 19
"""How far other processes go first: those of tests, and all of them."""

_PATIENCE = 5
"""The factor on the time limit for a check that no caller waits for."""

# The packages beside the checker say nothing about the code. Tests find imports that fail.
_ENVIRONMENT = frozenset(
    {"import-not-found", "import-untyped", "import", "no-any-unimported", "unused-ignore"}
)


@dataclass(frozen=True, slots=True)
class _Part:
    """The findings of one call. `blocked` is True if a syntax error kept mypy from checking everything."""

    found: tuple[Finding, ...]
    blocked: bool


@dataclass(frozen=True, slots=True)
class Mypy:
    """The checker.

    Attributes:
        scraps: where configuration and reports are written.
        settings: how to call it.
        python: interpreter with the installed packages that count; None is the one that runs this program.
        seconds: time limit for one call.
        cache: directory for mypy's cache; None starts without one.
        patient: True if other processes on this machine take precedence. To some degree, they always do,
            because tests take longer.
    """

    scraps: Scratch
    settings: TypeSettings
    python: Path | None
    seconds: float
    cache: Path | None = None
    patient: bool = False
    name: str = "mypy"

    @property
    def source(self) -> str:
        """Who chose the settings."""
        return self.settings.source

    @property
    def configured(self) -> bool:
        """True if the base configures this tool, whether or not its settings can be used."""
        return self.settings.source != BUILT_IN.source

    def covers(self, name: str) -> bool:
        """Return True if the settings include this file."""
        return self.settings.covers(name)

    def follows(self, name: str) -> bool:
        """Return True if mypy reports errors in this file when a checked one imports it."""
        return self.settings.follows(name)

    def needs_all(self, files: Sequence[str]) -> bool:
        """Return True if module names occur twice, as with a module and its stub, so there are batches."""
        return len(batches(files, self.settings.search)) > 1

    async def check(self, tree: Path, files: Sequence[str], changed: Collection[str]) -> Checked:
        """Check the files together, as far as their module names and syntax errors allow."""
        new_names = await asyncio.to_thread(_rename, tree, nameable(_python_files(tree)))
        old_names = {new: old for old, new in new_names.items()}
        # A stub comes before its module, because other files import the stub.
        ordered = sorted(files, key=lambda name: (not name.endswith(".pyi"), name not in changed, name))
        parts = batches([new_names.get(name, name) for name in ordered], self.settings.search)
        done = [await self._past_blockers(tree, batch) for batch in parts[:MAX_BATCHES]]
        left = [old_names.get(name, name) for batch in parts[MAX_BATCHES:] for name in batch.values()]
        found = [each for part in done for each in part.found]
        return Checked(
            tuple(replace(each, file=old_names.get(each.file, each.file)) for each in found),
            _why_unfinished(done, [name for name in left if name in changed]),
            tuple(left),
        )

    def for_python(self, version: str) -> "Mypy | None":
        """Return this checker for the types of a version of Python; None if the settings fix one."""
        fixed = "python_version" in (self.settings.config_text or "")
        if fixed or any(each.startswith("--python-version") for each in self.settings.arguments):
            return None
        arguments = (*self.settings.arguments, f"--python-version={version}")
        return replace(self, cache=None, settings=replace(self.settings, arguments=arguments))

    def without_packages(self) -> "Mypy":
        """Return this checker as a pre-commit hook runs it: the installed packages are unknown."""
        arguments = (*self.settings.arguments, "--no-site-packages", "--ignore-missing-imports")
        return replace(self, cache=None, settings=replace(self.settings, arguments=arguments))

    @property
    def libraries(self) -> Hashable:
        """Return a key. Equal keys share one cache of libraries."""
        return self.python, self.settings.arguments, self.settings.config_text

    async def learn(self, place: Scratch, cache: Path) -> None:
        """Read the file `seed.py` in a separate directory, and cache what it imports.

        Raises:
            ToolTroubleError: see `run_tool`.
        """
        seconds = self.seconds * _PATIENCE
        patient = replace(self, scraps=place, cache=cache, patient=True, seconds=seconds)
        await patient._run(place.path, {"seed": "seed.py"})

    async def _past_blockers(self, tree: Path, batch: Mapping[str, str]) -> _Part:
        """Check the files. If syntax errors stop mypy, check the others without the broken ones.

        mypy may name broken files one at a time, and the tests of a parser have many.
        """
        part = await self._check(tree, batch)
        found = part.found
        for _ in range(_MAX_BLOCKERS):
            bad = {each.file for each in part.found}
            rest = {module: name for module, name in batch.items() if name not in bad}
            if not part.blocked or len(rest) == len(batch):
                break
            batch = rest
            part = await self._check(tree, batch) if batch else _Part((), blocked=False)
            found = (*found, *part.found)
        return _Part(found, part.blocked)

    async def _check(self, tree: Path, batch: Mapping[str, str]) -> _Part:
        proof = self.scraps.path / "timing"
        proof.unlink(missing_ok=True)
        outcome = await self._run(tree, batch, f"--timing-stats={proof}")
        if crashed(outcome):
            return await self._without_memory(tree, batch, outcome)
        found = findings_in(outcome.stdout, tree)
        # mypy ends as if it had found an error even if there are only notes, which are read and dropped.
        if outcome.returncode == _CLEAN or (outcome.returncode == _FINDINGS and lines_of(outcome.stdout)):
            if not _names(proof).issuperset(batch):
                await self._assert_complete(tree, batch)
        elif outcome.returncode != _BLOCKED or not found:
            self._give_up(outcome)
        kept = tuple(each for each in found if each.rule not in _ENVIRONMENT)
        return _Part(kept, blocked=outcome.returncode == _BLOCKED)

    async def _without_memory(self, tree: Path, batch: Mapping[str, str], crash: ProcessOutcome) -> _Part:
        """Check once more without the cache, because a crashed run's cache is not trusted either."""
        if self.cache is None:
            raise _trouble(crash)
        await asyncio.to_thread(_empty, self.cache)
        return await replace(self, cache=None)._check(tree, batch)

    async def _assert_complete(self, tree: Path, batch: Mapping[str, str]) -> None:
        """Count the modules that mypy analyses without a cache, in a report with one module per line.

        Raises:
            ToolTroubleError: they are fewer than the files.
        """
        report = self.scraps.path / "report"
        cold = replace(self, cache=None)
        await cold._run(tree, batch, f"--linecount-report={report}")
        lines = report / "linecount.txt"
        analysed = len(lines.read_text().splitlines()) - 1 if lines.is_file() else 0
        if analysed < len(batch):
            raise ToolTroubleError(f"mypy analysed {analysed} of {len(batch)} files")

    async def _run(self, tree: Path, batch: Mapping[str, str], *arguments: str) -> ProcessOutcome:
        listing = self.scraps.path / "files"
        listing.write_text("".join(f"./{name}\n" for name in batch.values()))
        # Relative, so that mypy's cache is also valid in the next copy.
        search = ":".join(place for place in self.settings.search if (tree / place).is_dir())
        outcome = await run_tool(
            [*self._command(), *arguments, f"@{listing}"],
            cwd=tree,
            env={**self.scraps.env, "MYPYPATH": search},
            timeout=self.seconds,
            output_limit=64_000_000,
            niceness=_NICEST if self.patient else _NICE,
        )
        if outcome.truncated:
            raise ToolTroubleError("mypy's report is too long to be read")
        return outcome

    def _command(self) -> list[str]:
        config = ""
        if self.settings.config_text is not None:
            # The file is outside the tree, but paths relative to its own directory refer to the tree.
            path = self.scraps.path / self.settings.config_name
            path.write_text(self.settings.config_text.replace("$MYPY_CONFIG_FILE_DIR", "."))
            config = str(path)
        return [
            *(sys.executable, "-I", "-m", "mypy", "--output=json", f"--config-file={config}"),
            "--show-traceback",
            *("--num-workers=0", "--explicit-package-bases"),
            *(
                ("--cache-dir=/dev/null",)
                if self.cache is None
                else ("--sqlite-cache", f"--cache-dir={self.cache}")
            ),
            f"--python-executable={self.python or sys.executable}",
            *self.settings.arguments,
        ]

    def _give_up(self, outcome: ProcessOutcome) -> None:
        if self.settings.config_text is not None and outcome.returncode == _BLOCKED:
            detail = excerpt(outcome.stderr or outcome.stdout, 300)
            raise SettingsUnusableError(f"the project's own cannot be used: {detail}")
        raise _trouble(outcome)


def crashed(outcome: ProcessOutcome) -> bool:
    """Return True if mypy crashed, which says nothing about code or settings.

    It then ends with the status of a syntax error, or with that of an ordinary error and a traceback.
    """
    known = outcome.returncode in (_CLEAN, _FINDINGS, _BLOCKED)
    own_fault = "INTERNAL ERROR" in outcome.stderr or "Traceback (most recent call last)" in outcome.stderr
    return not known or (own_fault and outcome.returncode != _CLEAN)


def _trouble(outcome: ProcessOutcome) -> ToolTroubleError:
    detail = excerpt(outcome.stderr or outcome.stdout, 300)
    return ToolTroubleError(
        f"mypy ended with status {outcome.returncode}: {detail or 'nothing on its error stream'}"
    )


def _empty(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)


def _why_unfinished(parts: Sequence[_Part], left: Sequence[str]) -> str:
    if any(part.blocked for part in parts):
        return "mypy cannot get past a syntax error that the base already has"
    if left:
        return (
            f"{len(left)} changed files have the module names of others and were not checked, for instance "
            f"{left[0]}; give their directories an __init__.py or different names"
        )
    return ""


def _python_files(tree: Path) -> list[str]:
    return [path.relative_to(tree).as_posix() for path in sorted(tree.rglob("*.py*")) if path.is_file()]


def _rename(tree: Path, names: Mapping[str, str]) -> Mapping[str, str]:
    for old, new in names.items():
        (tree / new).parent.mkdir(parents=True, exist_ok=True)
        (tree / old).rename(tree / new)
    return names


def _names(proof: Path) -> set[str]:
    """Return the modules that mypy analysed. Each line holds a name and a time."""
    if not proof.is_file():
        return set()
    return {line.rpartition(" ")[0] for line in proof.read_text().splitlines()}
