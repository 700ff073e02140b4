"""Writes uv's input, and relaxes it where it cannot be satisfied. The project's own requirements go last."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.workspaces.environments.naming import names_in, normal
from app.workspaces.environments.outcome import Concessions, Reason
from app.workspaces.environments.plan import LOCKED, ROOTS, TEST_RUNNER, EnvironmentPlan

MOST_CONCESSIONS = 24
"""Maximum number of concessions in one installation."""

_OVERRIDES = "phaserunner-overrides.txt"
_OTHER_FORMATS = (".toml", ".lock")
"""Of files that are no requirement files."""
_NO_WHEEL = re.compile(r"ha(?:s|ve) no usable wheels|Wheels are required for|no binary distribution")
_REQUIRED = re.compile(r"you\s+require\s+(?:(?:one|all|any)\s+of:\s+)?([A-Za-z0-9][\w.-]*)")
_UNBUILT = re.compile(r"Distribution `([A-Za-z0-9][\w.-]*?)==")
_NOT_PUBLISHED = re.compile(r"there\s+is\s+no\s+version\s+of\s+([A-Za-z0-9][\w.-]*)\s*==")
_TWO_VERSIONS = re.compile(
    r"you\s+require\s+([A-Za-z0-9][\w.-]*)(?:\{[^}]*\})?[<>=!~]\S*\s+and\s+\1(?:\{[^}]*\})?[<>=!~]"
)
_OTHER_PYTHON = re.compile(r"([A-Za-z0-9][\w.-]*)==\S+\s+depends\s+on\s+Python")
_NONE_FITS = re.compile(
    r"only\s+([A-Za-z0-9][\w.-]*)[<>=!~]\S*\s+(?:is|are)\s+available\s+and\s+you\s+require\s+\1[<>=!~]"
)
_UNKNOWN = re.compile(r"([A-Za-z0-9][\w.-]*)\s+was\s+not\s+found\s+in\s+the\s+package\s+registry")
_TOO_NEW = re.compile(
    r"`([A-Za-z0-9][\w.-]*)` was filtered by `exclude-newer`|Wheels are required for `([A-Za-z0-9][\w.-]*)`"
)
_OTHER_PYTEST = re.compile(r"(?<![\w-])pytest(?=[=<>!~]|\s|$)")
_PIN = re.compile(r"^(\s*[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?)\s*==[^;#\\\n]*?(?<!\s)(\s*(?:[;#].*)?\n?)$")
_UNREAD = re.compile(r"Couldn't parse requirement in `([^`]+)` at position (\d+)")
_ADDRESS = re.compile(r"(?:\w+\+)?(?:https?|git|ssh)://[^\s#;@]+")


def without_wheel(said: str) -> frozenset[str]:
    """Return the requirements that uv cannot satisfy without a build, according to its output.

    Args:
        said: uv's output, which names the requirements at the top of each chain.
    """
    if not _NO_WHEEL.search(said):
        return frozenset()
    return frozenset(map(normal, [*_REQUIRED.findall(said), *_UNBUILT.findall(said)]))


def not_published(said: str) -> frozenset[str]:
    """Return the requirements with an exact version that cannot be had, according to uv's output.

    The index lacks that version, or it is for other versions of Python.
    """
    return frozenset(map(normal, [*_NOT_PUBLISHED.findall(said), *_OTHER_PYTHON.findall(said)]))


def unknown(said: str) -> frozenset[str]:
    """Return the requirements that no index has, according to uv's output, such as parts of the project.

    Of some it has only releases that do not satisfy the requirement.
    """
    return frozenset(map(normal, [*_UNKNOWN.findall(said), *_NONE_FITS.findall(said)]))


def too_new(said: str) -> frozenset[str]:
    """Return the requirements that a limit on the day of release leaves without a release or a wheel.

    Args:
        said: uv's output.
    """
    found = {name for pair in _TOO_NEW.findall(said) for name in pair if name}
    return without_wheel(said) | {normal(name) for name in (*found, *_NONE_FITS.findall(said))}


def without_pins(text: str, names: Collection[str]) -> str:
    """Return a requirement file that allows any version of these normalised names. Hashed lines stay."""
    return "".join(
        _PIN.sub(r"\1\2", line) if not names_in([line]).isdisjoint(names) else line
        for line in text.splitlines(keepends=True)
    )


def without_names(text: str, names: Collection[str]) -> str:
    """Return a requirement file without the requirements of these normalised names and their hashes."""
    return "".join(_kept(text, lambda line: not names_in([line]).isdisjoint(names)))


def only_names(text: str, names: Collection[str]) -> str:
    """Return the requirements of these normalised names in a requirement file, with their hashes."""
    return "".join(_kept(text, lambda line: names_in([line]).isdisjoint(names)))


def _kept(text: str, unwanted: Callable[[str], bool]) -> Iterator[str]:
    dropping = False
    for line in text.splitlines(keepends=True):
        if not line[:1].isspace():
            dropping = unwanted(line)
        if not dropping:
            yield line


@dataclass(slots=True)
class InstallerInput:
    """The files that uv reads, in their directory.

    Attributes:
        plan: what to install.
        place: the directory; only `write` needs it to exist.
        building: whether packages without a wheel may be built.
        conceded: the concessions so far.
        unbuilt: by normalised name, the lines of requirements that were left out for want of a wheel.
    """

    plan: EnvironmentPlan
    place: Path
    building: bool
    conceded: Concessions = field(default_factory=Concessions)
    unbuilt: dict[str, str] = field(default_factory=dict[str, str])

    def write(self) -> None:
        """Write the files as planned, without any concession.

        Raises:
            OSError: the directory cannot be written to.
        """
        for name, text in self.plan.files.items():
            path = self.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if self.plan.overrides:
            self._override(*self.plan.overrides)
        self.conceded = Concessions()

    def _override(self, *requirements: str) -> None:
        """Let requirements replace all others for their packages."""
        with (self.place / _OVERRIDES).open("a", encoding="utf-8") as file:
            file.writelines(f"{each}\n" for each in requirements)
        # An override replaces requirements, but no constraint, such as the version in a lock.
        names = names_in(requirements)
        for name in self.plan.constraints:
            path = self.place / name
            path.write_text(without_names(path.read_text(encoding="utf-8"), names), encoding="utf-8")

    def arguments(self) -> list[str]:
        """Return the arguments for uv that name the files."""
        return [
            *([] if self.building else ["--no-build"]),
            *(f"--requirements={name}" for name in self.plan.install),
            *(f"--constraints={name}" for name in self.plan.constraints),
            *([f"--overrides={_OVERRIDES}"] if self.plan.overrides or self.conceded.newer_pytest else []),
        ]

    def concede(self, reason: Reason, said: str) -> bool:
        """Relax the input after uv has failed. Return False if nothing more may be given up.

        Args:
            reason: the kind of failure.
            said: uv's output.

        Raises:
            OSError: the files cannot be rewritten.
        """
        if self.conceded.count >= MOST_CONCESSIONS:
            return False
        names = frozenset[str]() if self.building else without_wheel(said) - set(self.conceded.left_out)
        # The project's own requirements go last. Tests that need a missing one fail at the base, too, so do
        # not count.
        names = ((names - self.plan.required) or names) - names_in([TEST_RUNNER])
        self._note_unbuilt(names)
        names = names or unknown(said) - self.plan.required - set(self.conceded.left_out)
        if names:
            self._rewrite(lambda text: without_names(text, names))
            self.conceded = self.conceded.leaving_out(names)
            return True
        if found := _UNREAD.search(said):
            return self._leave_out_unread(found.group(1), int(found.group(2)))
        if reason is Reason.OFFLINE:
            return self._leave_out_addresses(said)
        if reason is Reason.UNRESOLVABLE and _OTHER_PYTEST.search(said) and not self.conceded.newer_pytest:
            self._override(TEST_RUNNER)
            self._rewrite(lambda text: without_pins(text, {"pytest"}))
            self.conceded = self.conceded.with_newer_pytest()
            return True
        if reason is not Reason.UNRESOLVABLE:
            return False
        return (
            self._take_other_versions(said)
            or self._take_version_of_project(said)
            or self._leave_out_optional()
        )

    def _leave_out_optional(self) -> bool:
        """Leave out what commands, types and documentation ask for, if it is still there."""
        lines = [line for path in self._paths() for line in path.read_text(encoding="utf-8").splitlines()]
        names = self.plan.optional & names_in(lines)
        if names:
            self._rewrite(lambda text: without_names(text, names))
            self.conceded = self.conceded.leaving_out(names)
        return bool(names)

    def _note_unbuilt(self, names: Collection[str]) -> None:
        for name in sorted(set(names) - self.plan.of_candidate):
            lines = [only_names(path.read_text(encoding="utf-8"), {name}) for path in self._paths()]
            if found := "".join(lines):
                self.unbuilt[name] = found

    def _take_other_versions(self, said: str) -> bool:
        """Allow any version of test and development requirements if the named one cannot be had."""
        names = not_published(said) - self.plan.required - set(self.conceded.unpinned)
        if not names:
            return False
        self._rewrite(lambda text: without_pins(text, names))
        self.conceded = self.conceded.unpinning(names)
        return True

    def _take_version_of_project(self, said: str) -> bool:
        """Let the version that the project names count where a requirement file names another one.

        If the project itself names two, as in an extra with the oldest versions, the range counts.
        """
        both = frozenset(map(normal, _TWO_VERSIONS.findall(said)))
        names = both - set(self.conceded.unpinned)
        if not (names and self._rewrite(lambda text: without_pins(text, names), but=ROOTS)):
            names = both - self.plan.required
            if not self._rewrite(lambda text: without_pins(text, names)):
                return False
        self.conceded = self.conceded.unpinning(names)
        return True

    def _leave_out_addresses(self, said: str) -> bool:
        """Leave out lines with an address that uv could not reach."""
        gone: set[str] = set()
        lines = [line for path in self._paths() for line in path.read_text(encoding="utf-8").splitlines()]
        # A further requirement without an address is one for a release from the index.
        needed = self.plan.required - names_in(line for line in lines if not _ADDRESS.search(line))

        def unreachable(line: str) -> bool:
            address = _ADDRESS.search(line) if not line.startswith("--") else None
            if address is None or address.group().removeprefix("git+") not in said:
                return False
            if not names_in([line.partition("@")[0]]).isdisjoint(needed):
                return False
            gone.add(line.strip())
            return True

        self._rewrite(lambda text: "".join(_kept(text, unreachable)))
        self.conceded = self.conceded.leaving_out(gone)
        return bool(gone)

    def _leave_out_unread(self, name: str, position: int) -> bool:
        """Leave out a line with an address of a kind that uv does not know, like `git+git://`."""
        if name not in self.plan.files:
            return False
        path = self.place / name
        text = path.read_text(encoding="utf-8")
        line = text[position:].partition("\n")[0]
        if "://" not in line or not names_in([line.partition("@")[0]]).isdisjoint(self.plan.required):
            return False
        path.write_text(text[:position] + text[position + len(line) :], encoding="utf-8")
        self.conceded = self.conceded.leaving_out({line.strip()})
        return True

    def _rewrite(self, change: Callable[[str], str], but: str = "") -> bool:
        """Change the requirement files. Return whether this changed any of them."""
        is_changed = False
        for path in self._paths():
            before = path.read_text(encoding="utf-8")
            after = before if path.name == but else change(before)
            if after != before:
                path.write_text(after, encoding="utf-8")
                is_changed = True
        return is_changed

    def _paths(self) -> Iterator[Path]:
        """Yield the requirement files."""
        for name in (*self.plan.files, LOCKED):
            path = self.place / name
            if path.suffix not in _OTHER_FORMATS and path.is_file():
                yield path
