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
"""Files that share a module name each need a separate run; this is the most that are made."""


_PATIENCE = 10
"""How many times the usual seconds a check may take that no caller waits for."""

# What is installed beside the checker says nothing about the code; the tests find an import that fails.
_ENVIRONMENT = frozenset(
    {"import-not-found", "import-untyped", "import", "no-any-unimported", "unused-ignore"}
)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one call found; `blocked` when a syntax error kept mypy from checking everything."""

    found: tuple[Finding, ...]
    blocked: bool


@dataclass(frozen=True, slots=True)
class Mypy:
    """The checker.

    Attributes:
        scraps: where configuration and reports are written.
        settings: how to call it.
        python: interpreter whose installed packages count; None is the one this program runs on.
        seconds: for one call.
        cache: directory in which mypy may remember what it has checked; None to start afresh.
        patient: whether others on this machine go first.
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
        """True when the base configures this tool, whether or not its settings can be used."""
        return self.settings.source != BUILT_IN.source

    def covers(self, name: str) -> bool:
        """True when the settings have this file checked."""
        return self.settings.covers(name)

    def needs_all(self, files: Sequence[str]) -> bool:
        """True when module names occur twice, as with a module and its stub, so that there are batches."""
        return len(batches(files, self.settings.search)) > 1

    async def check(self, tree: Path, files: Sequence[str], changed: Collection[str]) -> Checked:
        """Check the files together, as far as their module names and syntax errors allow it."""
        new_names = await asyncio.to_thread(_rename, tree, nameable(_python_files(tree)))
        old_names = {new: old for old, new in new_names.items()}
        # Of a module and its stub the stub comes first: it is what other files import.
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

    @property
    def libraries(self) -> Hashable:
        """Under the same value, the same is known of libraries."""
        return self.python, self.settings.arguments, self.settings.config_text

    async def learn(self, place: Scratch, cache: Path) -> None:
        """Read the file `seed.py` in a separate directory, and remember what it imports.

        Raises:
            ToolTroubleError: see `run_tool`.
        """
        seconds = self.seconds * _PATIENCE
        patient = replace(self, scraps=place, cache=cache, patient=True, seconds=seconds)
        await patient._run(place.path, {"seed": "seed.py"})

    async def _past_blockers(self, tree: Path, batch: Mapping[str, str]) -> _Part:
        """Check the files; where syntax errors stop mypy, check the others without them.

        mypy may name such files one at a time, as the tests of a parser have many.
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
        # Notes alone, which are read and dropped, make mypy end as if it had found an error.
        if outcome.returncode == _CLEAN or (outcome.returncode == _FINDINGS and lines_of(outcome.stdout)):
            if not _names(proof).issuperset(batch):
                await self._assert_complete(tree, batch)
        elif outcome.returncode != _BLOCKED or not found:
            self._give_up(outcome)
        kept = tuple(each for each in found if each.rule not in _ENVIRONMENT)
        return _Part(kept, blocked=outcome.returncode == _BLOCKED)

    async def _without_memory(self, tree: Path, batch: Mapping[str, str], crash: ProcessOutcome) -> _Part:
        """Check once more with nothing remembered; what the crashed run wrote is not trusted either."""
        if self.cache is None:
            raise _trouble(crash)
        await asyncio.to_thread(_empty, self.cache)
        return await replace(self, cache=None)._check(tree, batch)

    async def _assert_complete(self, tree: Path, batch: Mapping[str, str]) -> None:
        """Count the modules that are analysed when nothing is remembered, in a report with one a line."""
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
        # Relative, so that what mypy remembers holds in the next copy, too.
        search = ":".join(place for place in self.settings.search if (tree / place).is_dir())
        outcome = await run_tool(
            [*self._command(), *arguments, f"@{listing}"],
            cwd=tree,
            env={**self.scraps.env, "MYPYPATH": search},
            timeout=self.seconds,
            output_limit=64_000_000,
        )
        if outcome.truncated:
            raise ToolTroubleError("mypy's report is too long to be read")
        return outcome

    def _command(self) -> list[str]:
        config = ""
        if self.settings.config_text is not None:
            # The file lies outside the tree, but what it says about its own directory means the tree.
            path = self.scraps.path / self.settings.config_name
            path.write_text(self.settings.config_text.replace("$MYPY_CONFIG_FILE_DIR", "."))
            config = str(path)
        return [
            *(("nice", "-n", "19") if self.patient else ()),
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
    """True when mypy crashed, which says nothing about code or settings.

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
    """Read which modules mypy went through; a line holds a name and a time."""
    if not proof.is_file():
        return set()
    return {line.rpartition(" ")[0] for line in proof.read_text().splitlines()}
