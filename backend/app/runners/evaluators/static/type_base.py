"""Checks the base's own files, to compare a candidate's type errors with them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from app.runners.evaluators.static.analysed_copy import AnalysedCopy
from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.type_tool import TypeChecker


@dataclass(slots=True)
class TypesAtBase:
    """A checker's findings at the base.

    Attributes:
        checker: the checker.
        changed: the files that the candidate changed.
        found: the findings of the latest check.
    """

    checker: TypeChecker
    changed: Collection[str]
    found: list[Finding] = field(default_factory=list[Finding])

    async def check_some(self, base: AnalysedCopy, files: list[str]) -> Sequence[Finding]:
        """Check only these files, if the checker allows that."""
        if self.checker.needs_all(self._covered(base)):
            return await self.check_all(base, files)
        return await self._check(base, files, files, files)

    async def check_all(self, base: AnalysedCopy, files: list[str]) -> Sequence[Finding]:
        """Check every file in the order of the candidate's check. Return the findings in these files."""
        return await self._check(base, self._covered(base), self.changed, files)

    def _covered(self, base: AnalysedCopy) -> list[str]:
        return [name for name in base.files if self.checker.covers(name)]

    async def _check(
        self, base: AnalysedCopy, checked: Sequence[str], first: Collection[str], files: Collection[str]
    ) -> Sequence[Finding]:
        self.found = list((await self.checker.check(base.path, checked, first)).found)
        return [each for each in self.found if each.file in files]
