"""Tests that do not end at the base either: each is waited for once, and the others are judged without it."""

from collections.abc import Awaitable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from app.runners.evaluators.testing.inventory import file_of, function_of
from app.runners.evaluators.testing.report import Ending, RunReport
from app.runners.evaluators.testing.run import Harness
from app.runners.evaluators.testing.trees import RunTree
from app.schemas.baseline import Baseline

MOST_ENDLESS = 2
"""So many tests of one evaluation are left out. A project with more has no suite that ends here."""

_ALONE_SECONDS = 10.0


class RunAtBase(Protocol):
    """Runs tests of the base on the base's own code."""

    def __call__(
        self, files: Collection[str], ids: Collection[str], *, seconds: float
    ) -> Awaitable[RunReport]:
        """Run some tests of some files, for at most so many seconds."""
        ...


@dataclass(slots=True)
class Endless:
    """What is known of tests that a run waited for.

    Attributes:
        harness: how the tests run.
        at_base: runs them on the base's own code.
        baseline: of the run, if there is one; it may name such a test.
        known: by id, why a test was left out.
    """

    harness: Harness
    at_base: RunAtBase
    baseline: Baseline | None = None
    known: dict[str, str] = field(default_factory=dict[str, str])
    _found: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False)

    async def why(self, name: str) -> str:
        """Say that a test does not end at the base either; `""` when it does.

        It is tried alone, so that the base does not wait for as long again.
        """
        if name not in self._found:
            self._found[name] = await self._tried(name)
        return self._found[name]

    async def past(self, tree: RunTree | None, report: RunReport | None) -> RunReport | None:
        """Run the other tests once more where a run waited for one that does not end at the base either.

        Args:
            tree: what was run.
            report: what came of it.
        """
        while tree is not None and report is not None and report.ending is Ending.TIMED_OUT:
            name = report.unfinished[0] if report.unfinished else ""
            is_new = name not in self.known
            why = await self.why(name) if name and not (is_new and len(self.known) >= MOST_ENDLESS) else ""
            if not why:
                break
            self.known[name] = why
            left = [each for each in report.ids if each not in self.known]
            if not left:
                break
            report = await self.harness.run(tree, ids=left)
        return report

    def kept_from(self, lost: Collection[str]) -> list[str]:
        """Return the lost tests without those that were left out."""
        functions = {function_of(each) for each in self.known}
        return [each for each in lost if each not in self.known and each not in functions]

    async def _tried(self, name: str) -> str:
        if self.baseline is not None and self.baseline.waits_for == name:
            return _words(self.baseline.limit)
        limit = min(self.harness.seconds, max(_ALONE_SECONDS, self.harness.seconds / 4))
        alone = await self.at_base({file_of(name)}, [name], seconds=limit)
        return _words(limit) if alone.ending is Ending.TIMED_OUT else ""


def _words(limit: float) -> str:
    return f"does not end within {limit:g} seconds in the base either"
