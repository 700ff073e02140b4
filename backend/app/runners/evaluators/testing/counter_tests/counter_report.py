"""The results of counter-tests for the tests that passed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

_LISTED = 20


@dataclass(frozen=True, slots=True)
class CounterReport:
    """The tests that passed, sorted by whether they would have failed.

    Attributes:
        proven: ids of tests that pass unchanged and fail with a wrong expectation.
        refuted: by id, what shows that the code determines a test's outcome.
        doubted: by id, why a person is asked about a test.
        unproven: by id, why a test is no evidence.
        unreached: ids of tests that pass although each of their assertions fails as soon as it is reached.
        swayed: ids of tests that fail if their expectations are computed before the code gets their inputs.
        trouble: why no test was checked; `""` if some were.
        decides: True if refuted tests count against the candidate; otherwise they are only reported.
        seconds: wall-clock duration.
    """

    proven: tuple[str, ...] = ()
    refuted: Mapping[str, str] = field(default_factory=dict[str, str])
    unproven: Mapping[str, str] = field(default_factory=dict[str, str])
    doubted: Mapping[str, str] = field(default_factory=dict[str, str])
    unreached: tuple[str, ...] = ()
    swayed: tuple[str, ...] = ()
    trouble: str = ""
    decides: bool = True
    seconds: float = 0.0

    @property
    def judged(self) -> bool:
        """True if at least one test is evidence."""
        return bool(self.proven or self.refuted)

    def metadata(self) -> dict[str, Any]:
        """Return the figures that are stored with an evaluation."""
        return {
            "proven": len(self.proven),
            "unproven": len(self.unproven),
            "refuted": list(self.refuted)[:_LISTED],
            **({"doubted": list(self.doubted)[:_LISTED]} if self.doubted else {}),
            **({"unreached": list(self.unreached[:_LISTED])} if self.unreached else {}),
            **({"swayed": list(self.swayed[:_LISTED])} if self.swayed else {}),
            "reasons": _counted(self.unproven.values()),
            **({"trouble": self.trouble} if self.trouble else {}),
            "seconds": round(self.seconds, 3),
        }


def _counted(reasons: Collection[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for reason in reasons:
        counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: -each[1])[:_LISTED])
