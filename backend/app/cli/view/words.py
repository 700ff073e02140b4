"""The words, icons and colours of states. Colour is never the only sign of a state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.schemas.runs import RunKind

if TYPE_CHECKING:
    from app.schemas.shares import Latency, Share


@dataclass(frozen=True, slots=True)
class Look:
    """The appearance of a state."""

    icon: str
    style: str


_UNKNOWN = Look("?", "default")
_LOOKS = {
    "passed": Look("✓", "blue"),
    "completed": Look("✓", "blue"),
    "accepted": Look("✓", "blue"),
    "ok": Look("✓", "blue"),
    "failed": Look("✗", "red"),
    "fail": Look("✗", "red"),
    "rejected": Look("✗", "red"),
    "cancelled": Look("⊘", "red"),
    "asks": Look("☻", "yellow"),
    "errored": Look("▲", "magenta"),
    "agent_failed": Look("▲", "magenta"),
    "warn": Look("▲", "yellow"),
    "skipped": Look("⊘", "bright_black"),
    "waiting": Look("☻", "yellow"),
    "paused": Look("‖", "yellow"),
    "open": Look("☻", "yellow"),
    "queued": Look("·", "bright_black"),
    "pending": Look("·", "bright_black"),
    "info": Look("·", "default"),
    "active": Look("▸", "cyan"),
    "started": Look("▸", "cyan"),
    "produced": Look("▸", "cyan"),
    "evaluating": Look("▸", "cyan"),
    "delegated": Look("▸", "cyan"),
    "retry": Look("↻", "cyan"),
    "resolved": Look("✓", "blue"),
    "withdrawn": Look("⊘", "bright_black"),
}


def look(state: str) -> Look:
    """Return the look of a state. An unknown state looks like a question."""
    return _LOOKS.get(state, _UNKNOWN)


def duration(seconds: float) -> str:
    """Return a wall-clock duration for people: `0 s`, `0.03 s`, `4.2 s`, `42 s`, `3:07`, `1:02:03`."""
    for below, decimals in ((1, 2), (10, 1), (60, 0)):
        if seconds < below:
            return f"{max(0.0, seconds):.{0 if float(seconds).is_integer() else decimals}f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: `1 token`, `1,200 tokens`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def money(usd: float, decimals: int = 2) -> str:
    """Return an amount of US dollars. One that is too small for the decimals is not zero: `< $0.01`."""
    least = 10**-decimals
    return f"< ${least:.{decimals}f}" if 0 < usd < least else f"${usd:.{decimals}f}"


KIND_WORDS: Mapping[str, str] = {each.value: each.word.capitalize() for each in RunKind}
"""The words for runs of each kind, at the beginning of a sentence."""


SCRIPT_WARNING = "A script, not a model, does the edits"

NO_DATA = "no data"


def part_of(*, gate: bool, observed: bool) -> str:
    """Return an evaluator's part: gate, observed gate, or adviser."""
    return "gate" if gate else "observed" if observed else "advisory"


def share_words(share: "Share") -> str:
    """Return `82 %, 9 of 11 (52 % to 95 %)`; without cases there is no share."""
    if share.value is None or share.low is None or share.high is None:
        return f"{NO_DATA} (n = 0)"
    return f"{share.value:.0%}, {share.count} of {share.of} ({share.low:.0%} to {share.high:.0%})"


def latency_words(latency: "Latency") -> str:
    """Return `p50 3.2 s, p95 4 s (n = 11)`."""
    if latency.p50_ms is None or latency.p95_ms is None:
        return f"{NO_DATA} (n = 0)"
    return f"p50 {duration(latency.p50_ms / 1000)}, p95 {duration(latency.p95_ms / 1000)} (n = {latency.n})"
