"""The words of a failure, without what differs between two runs of the same fault. Pure."""

import re

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing.pytest_runner.failures import BECAUSE, LEFT_OUT

# Pytest's explanation of an assertion prints objects, and the candidate may have added a field to them.
_EXPLANATION = re.compile(r"\n\s*\+\s+(?:where|and)\b.*", re.DOTALL)
_ERROR_LINE = re.compile(r"^E {3,}(\S.*)$", re.MULTILINE)
# Random names of `tempfile`, of pytest's directories, ports that the system chooses, and durations.
# A test that goes by its working directory finds another one in another order of tests.
_NOISE = (
    (re.compile(r"(?:<run>|/tmp)/[^\s'\"()\[\],]*"), "<place>"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "<temporary>"),
    (re.compile(r"\bpytest-of-\w+|\bpytest-\d+\b"), "<temporary>"),
    (re.compile(r"\b(?:localhost|127\.0\.0\.1|\[?::1\]?):\d{4,5}\b"), "<address>"),
    (re.compile(r"\b\d+\.\d+ ?(?:ms|us|µs|s|secs?|seconds?)\b"), "<time>"),
    (re.compile(r"\b(port[ =:]+|pid[ =:]+)\d+\b", re.IGNORECASE), r"\1<n>"),
)


def failure_words(message: str) -> str:
    """Return what stays of a failure's message if it fails again for the same reason.

    Of a traceback, only the lines of the error count: the lines above it show code that may have changed.
    Of a chain of exceptions, the last one counts, and of a long message its beginning.
    """
    message = message.partition(BECAUSE)[0].partition(LEFT_OUT)[0]
    errors = _ERROR_LINE.findall(message)
    text = "\n".join(errors) if errors else _EXPLANATION.sub("", message)
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    # Pytest lists the differing items of dictionaries and sets in the order of a set.
    return issue_key("\n".join(sorted(text.splitlines())))


def fails_alike(one: str, other: str) -> bool:
    """Return True if two messages say the same."""
    return failure_words(one) == failure_words(other)
