"""Finds tests that know their own text: they fail in changed files, even after an added comment."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import Random

from app.runners.evaluators.testing.counter_tests.pairs import run_both
from app.runners.evaluators.testing.counter_tests.reading import TestFile
from app.runners.evaluators.testing.counter_tests.sorting import failing_in_all, touchy
from app.runners.evaluators.testing.counter_tests.versions import Version, touched_version
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.run import Harness


@dataclass(frozen=True, slots=True)
class TouchyTests:
    """Runs tests in files to which only a comment is added.

    Attributes:
        plain: how tests run in unchanged files.
        limited: how they run in changed ones.
        tree: the candidate's tree.
        base: the base's own tree; None if there is none.
        files: all test files.
    """

    plain: Harness
    limited: Harness
    tree: RunTree
    base: RunTree | None
    files: Mapping[str, TestFile]

    async def found_among(self, tests: Collection[str], chance: Random) -> dict[str, str]:
        """Return those of some tests that fail, each with the reason."""
        named = [self.files[name] for name in sorted(set(map(file_of, tests))) if name in self.files]
        files = [each for each in named if not each.is_source]
        if not files:
            return {}
        one, other = (touched_version(files, str(chance.randrange(10**6, 10**7))) for _ in range(2))
        as_is = Version((), {each.name: each.source.content for each in files})
        touched = await run_both(self.limited, self.tree, (one, other))
        failing = failing_in_all(tests, touched)
        if not failing:
            return {}
        # The plain run has no test limits either, so that tests cannot tell the runs apart by them.
        as_before = (await run_both(self.plain, self.tree, (as_is, as_is)))[0]
        if self.base is None or not touchy(failing, as_before, ()):
            return touchy(failing, as_before, ())
        honest = await run_both(self.plain, self.base, (one, as_is))
        return touchy(failing, as_before, honest)
