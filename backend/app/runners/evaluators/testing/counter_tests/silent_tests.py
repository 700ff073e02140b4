"""Finds tests that pass although they compare nothing, or only what the code left of their inputs."""

import ast
import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, Source, apply_edits
from app.runners.evaluators.testing.counter_tests.child_code import UNPARSABLE
from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.counter_tests.names import Function
from app.runners.evaluators.testing.counter_tests.reading import TestFile, definitions
from app.runners.evaluators.testing.counter_tests.unreached import failing_assertions
from app.runners.evaluators.testing.counter_tests.versions import Version, write_trees
from app.runners.evaluators.testing.counter_tests.wanted_first import wanted_first
from app.runners.evaluators.testing.layout.inventory import function_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness, run_directory
from app.workspaces.files.temporary import in_thread
from app.workspaces.together import together

_Edits = Callable[[Unit, Function], list[Edit]]


@dataclass(frozen=True, slots=True)
class SilentTests:
    """One search for silent tests of a tree.

    Attributes:
        harness: how the tests run.
        tree: the tree that passed.
        base: the base's own tree, whose code is the control.
        units: the tests.
        plain: the report of the run that passed.
        seconds: how many seconds of tests may run. The others are left out.
    """

    harness: Harness
    tree: RunTree
    base: RunTree | None
    units: Sequence[Unit]
    plain: RunReport
    seconds: float

    async def found(
        self, unproven: Collection[str], passed: Collection[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which of some tests `unreached` gives, and which of others `swayed` gives."""
        return await together(self.unreached(unproven), self.swayed(passed))

    async def unreached(self, wanted: Collection[str]) -> tuple[str, ...]:
        """Return the tests that still pass if each of their assertions fails as soon as it is reached.

        The base's own code does not pass them then.
        """
        changed, asked = await asyncio.to_thread(self._changed, wanted, failing_assertions)
        for where in (self.tree, self.base):
            if asked and where is not None:
                report = await self._run(where, changed, asked)
                passing = {each for each in asked if _passes(report, each)}
                asked = passing if where is self.tree else asked - passing
        return tuple(sorted(asked))

    async def swayed(self, wanted: Collection[str]) -> tuple[str, ...]:
        """Return the tests that fail if what they expect is computed before the code gets their inputs.

        The base's own code does not change these inputs, or does not pass.
        """
        changed, asked = await asyncio.to_thread(self._changed, wanted, wanted_first)
        files = {each.file.name: each.file.source.content for each in self.units if each.file.name in changed}
        for where in (self.tree, self.base):
            if asked and where is not None:
                differing = await self._differing(where, changed, files, asked)
                asked = differing if where is self.tree else asked - differing
        return tuple(sorted(asked))

    async def _differing(
        self, where: RunTree, changed: Mapping[str, bytes], usual: Mapping[str, bytes], asked: Collection[str]
    ) -> set[str]:
        """Return the tests that fail in the changed files and pass in the usual ones."""
        report = await self._run(where, changed, asked)
        failing = {each for each in asked if _fails(report, each)}
        if not failing:
            return set()
        # All of them run again, because one may depend on those before it.
        report = await self._run(where, usual, asked)
        return {each for each in failing if _passes(report, each)}

    def _changed(self, wanted: Collection[str], edits_of: _Edits) -> tuple[dict[str, bytes], set[str]]:
        """Return the changed files, and the tests in question whose functions are changed."""
        edits: dict[str, list[Edit]] = {}
        seconds = self.seconds
        asked: set[str] = set()
        files = {each.file.name: each.file for each in self.units}
        functions = {name: _functions_of(file) for name, file in files.items() if not file.is_source}
        for unit in self.units:
            tests = {each for each in unit.tests if each in wanted}
            function = functions.get(unit.file.name, {}).get(unit.function.name) if tests else None
            found = edits_of(unit, function) if function else []
            seconds -= sum(self.plain.tests[each].seconds for each in tests) if found else 0
            if found and seconds > 0:
                edits.setdefault(unit.file.name, []).extend(found)
                asked |= tests
        texts = {name: text for name, all_ in edits.items() if (text := _applied(files[name].source, all_))}
        return texts, {each for each in asked if each.partition("::")[0] in texts}

    async def _run(self, tree: RunTree, texts: Mapping[str, bytes], tests: Collection[str]) -> RunReport:
        """Run some tests with other texts of their files."""
        async with run_directory() as place:
            (made,) = await in_thread(write_trees, tree, [Version((), texts)], place)
            return await self.harness.run(made, ids={function_of(each) for each in tests})


def _passes(report: RunReport, test: str) -> bool:
    return test in report.tests and report.tests[test].ok


def _fails(report: RunReport, test: str) -> bool:
    found = report.tests.get(test)
    return found is not None and found.bad and not found.was_cut


def _functions_of(file: TestFile) -> dict[str, Function]:
    """Return the functions of a test file, by classes and name."""
    try:
        module = parse_module(file.source.content)
    except UNPARSABLE:
        return {}
    found = definitions(module.body, "")
    return {f"{prefix}{node.name}": node for prefix, node in found if not isinstance(node, ast.ClassDef)}


def _applied(source: Source, edits: Sequence[Edit]) -> bytes | None:
    try:
        text = apply_edits(source.content, edits)
        parse_module(text)
    except UNPARSABLE:
        return None
    return text
