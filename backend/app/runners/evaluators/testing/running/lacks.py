"""Explains files that cannot be loaded by what the environment lacks, and not by their code."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.testing.running.dependencies import (
    is_compiled,
    is_declared_part,
    is_foreign,
    is_lacked_by_installed,
    is_made_by_build,
    is_test_library,
    lacking,
    missing_module,
    missing_part,
    missing_submodule,
)
from app.runners.evaluators.testing.running.failure_words import fails_alike
from app.runners.evaluators.testing.running.installed import has_module
from app.runners.evaluators.testing.running.report import CollectProblem
from app.runners.evaluators.testing.running.run import Harness

LACKS = "The interpreter that runs the tests lacks what the project needs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacks:
    """Explains problems of loading by what the environment lacks.

    Attributes:
        harness: runs tests in the environment.
        base: the tree of the base.
        sources: the base's Python files that are not tests.
        unreadable: returns the files that cannot be loaded at the base, with the message of each.
    """

    harness: Harness
    base: Path
    sources: Collection[str]
    unreadable: Callable[[], Awaitable[Mapping[str, str]]]

    async def explain(self, errors: Iterable[CollectProblem], *, of_base: bool) -> str:
        """Return what the environment lacks, if that explains each problem of a run."""
        modules, machine = set[str](), set[str]()
        for each in errors:
            module = missing_module(each.message)
            what = await asyncio.to_thread(lacking, "" if module or not of_base else each.message, self.base)
            if module is not None and await self._lacks(module, each, of_base=of_base):
                modules.add(missing_submodule(each.message) or module)
            elif of_base and await self.is_unbuilt(each.message) and await self._has_at_base(each):
                modules.add(missing_part(each.message) or "")
            elif what is not None and await self._has_at_base(each):
                machine.add(what)
            else:
                return ""
        if modules:
            machine.add(f"{LACKS}: {', '.join(sorted(modules))}")
        return "; ".join(sorted(machine))

    async def explain_files(self, errors: Iterable[CollectProblem]) -> dict[str, str]:
        """Return the files of base tests that cannot be loaded because the environment lacks something.

        Args:
            errors: problems of loading with the candidate's code.

        Returns:
            What is lacking, by file.
        """
        return {each.id: what for each in errors if (what := await self.explain([each], of_base=True))}

    async def on_machine(self, message: str) -> str | None:
        """Return what the machine lacks according to an error message, a git submodule of the base included.

        Code can raise any message, so it counts only if the base fails with the same one.
        """
        return await asyncio.to_thread(lacking, message, self.base)

    async def for_both(self, here: str, there: str) -> str | None:
        """Return what the environment lacks if a test failed for that reason, here and at the base.

        Words around the reason may differ between runs: ports, paths, the fixtures that are there instead.

        Args:
            here: the message with the candidate's code.
            there: that with the base's code.
        """
        module = missing_module(here)
        if module is None:
            what = await self.on_machine(here)
            return what if what == await self.on_machine(there) else None
        if not fails_alike(there, here):
            return None
        if await self.is_unbuilt(here):
            return f"{missing_submodule(here)} is not built"
        if await self.is_part_of_declared(here):
            return f"the interpreter does not find {missing_submodule(here)}"
        return f"the interpreter lacks {module}" if await self.needs_installed(module) else None

    async def needs_installed(self, module: str) -> bool:
        """Return True if the environment should provide a missing module, and does not.

        An error's text alone does not count, because the candidate's code may have raised it.
        """
        foreign = await asyncio.to_thread(is_foreign, module, self.base, self.sources)
        return foreign and not await has_module(self.harness, module)

    async def is_made_by_build(self, module: str) -> bool:
        """Return True if the project's build writes or compiles a missing module."""
        return await asyncio.to_thread(is_made_by_build, module, self.base, self.sources)

    async def is_unbuilt(self, message: str) -> bool:
        """Return True if a message names something missing that the build compiles from a file of the base.

        Code can raise any message, so it counts only if the base fails with it, too.
        """
        part = missing_part(message)
        return part is not None and await asyncio.to_thread(is_compiled, part, self.base)

    async def is_part_of_declared(self, message: str) -> bool:
        """Return True if a message names a missing module of a package that the base declares.

        The two may share a namespace with the project, as `zope.testing` and `zope.interface` do. Code can
        raise any message, so it counts only if the base fails with it, too.
        """
        part = missing_submodule(message)
        return part is not None and await asyncio.to_thread(is_declared_part, part, self.base)

    async def _lacks(self, module: str, problem: CollectProblem, *, of_base: bool) -> bool:
        if await self.needs_installed(module):
            return True
        if not (of_base and await self._has_at_base(problem)):
            return False
        part = missing_submodule(problem.message)
        if is_lacked_by_installed(problem.message) or (part and await self.is_made_by_build(part)):
            return True
        if await self.is_unbuilt(problem.message):
            return True
        if await self.is_part_of_declared(problem.message):
            return True
        is_for_tests = await asyncio.to_thread(is_test_library, module, self.base)
        return is_for_tests and not await has_module(self.harness, module)

    async def _has_at_base(self, problem: CollectProblem) -> bool:
        there = (await self.unreadable()).get(problem.id, "")
        return bool(there) and fails_alike(there, problem.message)
