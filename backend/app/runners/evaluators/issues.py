"""Decides whether two findings are the same, by normalised keys and fingerprints of failures."""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus

HIDDEN_FINDING = "hidden_finding"
"""Member of a result's metadata that identifies the part of a failed result which its words leave out."""

_FINGERPRINT_CHARS = 16
_REMEMBERED_KEYS = 512
"""Number of remembered keys. A run's earlier complaints are compared again before each attempt."""

# What differs between two runs of the same tool over the same fault. Order matters: identifiers and paths
# contain digits that the later rules would match. Plain numbers stay: `assert 3 == 4` is not `assert 5 == 4`.
_NOISE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<address>"),
    (re.compile(r"\bid='\d{9,}'"), "id='<address>'"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|s|sec|secs|seconds?|minutes?)\b"), "<duration>"),
    (re.compile(r"(?<![\w.])/(?:[^\s/:'\"]+/)+"), ""),
    (re.compile(r"\blines?\s+\d+(?:\s*(?:-|to|and)\s*\d+)?", re.IGNORECASE), "line <n>"),
    (re.compile(r"(?<=[\w)\]>]):\d+(?::\d+)?(?=[\s:,.)\]]|$)"), ":<n>"),
    (re.compile(r"\s+"), " "),
)


@lru_cache(maxsize=_REMEMBERED_KEYS)
def issue_key(text: str) -> str:
    """Return the part of a complaint that stays if only lines, addresses, times and directories change."""
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    return text.strip().casefold()


def unique_issues(texts: Iterable[str]) -> list[str]:
    """Return the texts in order, the first one for each key."""
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(issue_key(text), text)
    return list(first.values())


def hidden_finding(result: EvaluationResult) -> list[str]:
    """Return what identifies the part of a failure that its words leave out; empty if there is none."""
    found = result.metadata.get(HIDDEN_FINDING)
    return [found] if isinstance(found, str) else []


def failure_fingerprint(results: Iterable[EvaluationResult]) -> str:
    """Return the fingerprint of a failure. It is equal for two panels with the same complaints.

    Pass only the results of gates, because the free text of models never repeats itself.

    Returns:
        16 hexadecimal digits, or `""` if nothing failed.
    """
    complaints = sorted(
        f"{result.evaluator_name}\x1f{issue_key(text)}"
        for result in results
        if result.status is EvaluationStatus.FAILED
        for text in (*(result.suggestions or [result.feedback]), *hidden_finding(result))
    )
    if not complaints:
        return ""
    return hashlib.sha256("\x1e".join(complaints).encode()).hexdigest()[:_FINGERPRINT_CHARS]
