"""What became of an environment: an interpreter, or the reason why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Reason(StrEnum):
    """Why there is no environment.

    `DECLARATION`: what the base says about its needs cannot be read. `NO_PYTHON`: no interpreter here fits.
    `OFFLINE`: a package had to be fetched and the network is off or unreachable. `UNRESOLVABLE`: no set of
    releases satisfies what is asked for. `BUILD`: something would have to be built, which is not allowed, or
    cannot be built. `TIMED_OUT`, `SANDBOX`: the installation was too slow, or cannot be confined.
    `TEST_RUNNER`: the project is part of pytest itself. `FAILED`: anything else; the detail says.
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


_MAY_PASS = frozenset({Reason.OFFLINE, Reason.TIMED_OUT, Reason.FAILED})


@dataclass(frozen=True, slots=True)
class Ready:
    """An interpreter with what the base needs.

    Attributes:
        python: its path.
        key: name of the environment; empty for an interpreter that was there anyway.
        how: which files decided, for people.
        seconds: that making it took; 0.0 when it was there.
        missing: requirements that only the candidate declares and that were not installed.
        left_out: requirements of the base's tests or development that have no wheel and were not installed.
    """

    python: Path
    key: str = ""
    how: str = ""
    seconds: float = 0.0
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unavailable:
    """There is no environment, so nothing can be said about the candidate.

    Attributes:
        reason: which kind of trouble.
        detail: for people; the end of what uv said, where it said something.
    """

    reason: Reason
    detail: str

    @property
    def retryable(self) -> bool:
        """True when the same attempt may succeed a little later."""
        return self.reason in _MAY_PASS

    def __str__(self) -> str:
        return f"The workspace's environment cannot be made: {self.detail}"


EnvironmentOutcome = Ready | Unavailable
