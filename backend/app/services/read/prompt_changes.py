"""Compares the prompts of two attempts, to show what the later one adds. Pure."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from app.schemas.api.attempts import PromptPart, PromptPartKind

_THOROUGH = 1_000_000
"""Up to this many pairs of lines, every line is compared; above it, very frequent lines are not matched."""

_Part = tuple[PromptPartKind, Sequence[str]]


def prompt_changes(before: str, after: str) -> list[PromptPart]:
    """Split two prompts into parts: all but `removed` make up `after`, all but `added` make up `before`."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    rest_old, rest_new = old[head : len(old) - tail], new[head : len(new) - tail]
    parts: list[_Part] = [
        ("same", new[:head]),
        *_compared(rest_old, rest_new),
        ("same", new[len(new) - tail :]),
    ]
    return [PromptPart(kind=kind, text="".join(lines)) for kind, lines in parts if lines]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[_Part]:
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > _THOROUGH)
    for what, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if what == "equal":
            yield "same", new[new_start:new_end]
        else:
            yield "removed", old[old_start:old_end]
            yield "added", new[new_start:new_end]
