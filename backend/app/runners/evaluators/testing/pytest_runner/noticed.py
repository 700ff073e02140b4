"""Notes which test files a change was noticed after, so that a control can run these alone."""

from collections.abc import Iterable


class Noticed:
    """By name of what was changed, the test files of which one changed it."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        """No files mean before the first test. What is missing was noticed after the last."""
        self.waiting: list[str] = []
        """The test files that ended since the last look."""
        self._changed: set[str] = set()

    def passing(self, names: "Iterable[str]", *test_files: str) -> None:
        """Note what may be as before at the next look."""
        for name in names:
            self.files.setdefault(name, [*test_files])

    def look(self, changed: "Iterable[str]") -> None:
        """Note what is changed now. A name that is as before again loses its files."""
        now = set(changed)
        for name in self._changed - now:
            self.files.pop(name, None)
        self.files.update((name, self.waiting) for name in now - self._changed)
        self._changed, self.waiting = now, []
