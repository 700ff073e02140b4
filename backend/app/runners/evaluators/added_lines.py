"""Determines which lines of a file are new, and writes line numbers for people."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

_MAX_COMPARED = 4_000_000
"""Limit on the product of the numbers of differing lines.

Beyond it, lines are not matched and all count as new.
"""


def added_lines(before: Sequence[bytes], now: Sequence[bytes]) -> set[int]:
    """Return the numbers of the lines of `now` that `before` does not have at that place."""
    head = 0
    while head < min(len(before), len(now)) and before[head] == now[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(now)) - head and before[-1 - tail] == now[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], now[head : len(now) - tail]
    if len(old) * len(new) > _MAX_COMPARED:
        return set(range(head + 1, head + len(new) + 1))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changed = [each for each in matcher.get_opcodes() if each[0] in ("replace", "insert")]
    return {head + index + 1 for _, _, _, start, end in changed for index in range(start, end)}


def ranges(numbers: Iterable[int]) -> str:
    """Format line numbers for people: `3-5, 9`."""
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in joined(numbers))


def joined(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each group of line numbers without a gap."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
