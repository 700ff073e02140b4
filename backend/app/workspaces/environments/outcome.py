"""The outcome of preparing an environment: an interpreter, or the reason why there is none."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from app.workspaces.environments.extensions.built import Built


class Reason(StrEnum):
    """Why there is no environment.

    `DECLARATION`: the base's declared needs cannot be read. `NO_PYTHON`: no interpreter on this machine fits.
    `OFFLINE`: a package must be downloaded, and the network is off or unreachable. `UNRESOLVABLE`: no set of
    releases satisfies the requirements. `BUILD`: something must be built, which is not allowed or failed.
    `TIMED_OUT`, `SANDBOX`: the installation was too slow, or cannot be confined. `TEST_RUNNER`: the project
    is part of pytest itself. `FAILED`: anything else; the detail says what.
    """

    DECLARATION = "declaration"
    NO_PYTHON = "no_python"
    OFFLINE = "offline"
    UNRESOLVABLE = "unresolvable"
    BUILD = "build"
    TIMED_OUT = "timed_out"
    SANDBOX = "sandbox"
    TEST_RUNNER = "test_runner"
    FAILED = "failed"


_LEFT_OUT = "Tests that miss it at the base, too, do not count."
_SETTING = "ENVIRONMENT_BUILD says what is built."

_MAY_PASS = frozenset({Reason.OFFLINE, Reason.TIMED_OUT, Reason.FAILED})


@dataclass(frozen=True, slots=True)
class Concessions:
    """What an environment lacks of the base's declarations.

    Attributes:
        left_out: requirements without a wheel, or with an unreachable address. The project's own
            requirements are among them only if nothing else helps.
        newer_pytest: True if pytest is newer than the base pins it.
        unpinned: requirements installed in another version, because the one that the base names is not in the
            index, is for other versions of Python, or contradicts another one that it names.
    """

    left_out: tuple[str, ...] = ()
    newer_pytest: bool = False
    unpinned: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of concessions."""
        return len(self.left_out) + self.newer_pytest + len(self.unpinned)

    def leaving_out(self, names: Iterable[str]) -> "Concessions":
        """Return a copy with further requirements left out."""
        return replace(self, left_out=tuple(sorted({*self.left_out, *names})))

    def with_built(self, names: Collection[str]) -> "Concessions":
        """Return a copy without requirements that were built after all."""
        return replace(self, left_out=tuple(each for each in self.left_out if each not in names))

    def with_newer_pytest(self) -> "Concessions":
        """Return a copy that notes a pytest newer than pinned."""
        return replace(self, newer_pytest=True)

    def unpinning(self, names: Iterable[str]) -> "Concessions":
        """Return a copy with further requirements in any version."""
        return replace(self, unpinned=tuple(sorted({*self.unpinned, *names})))

    def sentences(self) -> tuple[str, ...]:
        """Return the concessions as sentences for people."""
        addresses = [each for each in self.left_out if "://" in each]
        names = [each for each in self.left_out if each not in addresses]
        said: list[str] = []
        if names:
            said.append(
                f"Not installed, as no fitting wheel can be had: {', '.join(names)}. {_LEFT_OUT} {_SETTING}"
            )
        if addresses:
            said.append(f"Not installed, as it cannot be fetched: {', '.join(addresses)}. {_LEFT_OUT}")
        if self.newer_pytest:
            said.append("The base pins an older pytest; a newer one ran the tests.")
        if self.unpinned:
            named = ", ".join(self.unpinned)
            said.append(f"In another version, as the one named cannot be had: {named}.")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Ready:
    """An interpreter with everything that the base needs.

    Attributes:
        python: its path.
        key: name of the environment; empty for an interpreter that was not created for this.
        how: the files that determined the environment, for people.
        seconds: how long creating it took; 0.0 if it existed.
        missing: requirements that only the candidate declares and that were not installed.
        added: requirements that only the candidate declares and that were installed for a first look; a
            person has to agree.
        differing: requirements of the base of which the candidate asks for other releases; the base's are
            installed.
        changed: such requirements of which the candidate's releases were installed for a second look; a
            person has to agree.
        conceded: what the environment lacks of the base's declarations.
        built: the compiled modules of the trees that are judged.
    """

    python: Path
    key: str = ""
    how: str = ""
    seconds: float = 0.0
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    conceded: Concessions = Concessions()
    built: Built = field(default_factory=Built)


@dataclass(frozen=True, slots=True)
class EnvironmentUnavailable:
    """There is no environment, so the candidate cannot be judged.

    Attributes:
        reason: the kind of failure.
        detail: for people; the end of uv's output, if there is any.
    """

    reason: Reason
    detail: str

    @property
    def retryable(self) -> bool:
        """True if the same attempt may succeed a little later."""
        return self.reason in _MAY_PASS

    def __str__(self) -> str:
        return f"The workspace's environment cannot be created: {self.detail}"


EnvironmentOutcome = Ready | EnvironmentUnavailable
