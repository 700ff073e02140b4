"""Finds text in the work that seems to address the reviewer instead of the project.

A finding is only a suspicion. The prompt tells the model to ignore such text, and the model's prose has no
effect. This check covers the case that a model obeys nevertheless.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.agents.models.material import shorten, visible

MAX_FOUND = 20
_QUOTE_CHARS = 160
_WINDOW_LINES = 2
_LINE_CHARS = 4000

_WHO = (
    r"(?:reviewers?|evaluators?|graders?|judges?|llms?|language models?|ai models?|ai assistants?|ai agents?)"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Orders to ignore earlier instructions.
        r"(?<!n't )(?<!not )\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}"
        r"\b(?:previous|prior|above|earlier|preceding|existing|all|any|your|the system)\b.{0,30}"
        r"\b(?:instructions?|prompts?|guidelines|criteria|rubric|directives)\b",
        # Words to a reviewer, and about the verdict.
        r"\b(?:dear|attention|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|hey)[,:]?\s+"
        rf"(?:the |all |any )?(?:automated |ai |code |llm )*{_WHO}\b",
        rf"\b{_WHO}\b.{{0,40}}\b(?:must|should|shall|has to|have to|please|is to|are to)\b.{{0,40}}"
        r"\b(?:score|rate|grade|approve|accept|pass|full marks|ignore|skip)\b",
        r"\b(?:score|rate|grade|mark)\s+(?:this|it|everything|each|every|all|the)\b.{0,40}"
        r"(?:\b1\.0+\b|\b100 ?%|\b10/10\b|\bfull marks\b|\bperfect\b|\bas pass)",
        # A verdict in the words that only the model may use.
        r"[\"'](?:blocking_issues|overall_assessment)\\?[\"']\s*:",
        # Markers like those around the work in the model's prompt.
        r"<<<\s*(?:[0-9a-f]{12,}|end of\b|/?(?:system|instructions?)\b)",
        # The markers of chat formats.
        r"<\|(?:im_start|im_end|system|assistant|eot_id|start_header_id)\|>|\[/?INST\]",
        r"</?system(?:-reminder|_prompt)?>",
    )
)
# Flag emoji of regions consist of tag characters.
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0020-\U000e007f\U000e0100-\U000e01ef]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_SUBJECT = re.compile(
    r"prompt.?injection|jail.?break|red.?team|guard.?rails?|adversarial prompt|chat template", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Influence:
    """A place that may try to influence the review."""

    place: str
    quote: str

    def __str__(self) -> str:
        return f"{self.place}: {self.quote}"


def find_influence(place: str, lines: Iterable[tuple[int, str]]) -> list[Influence]:
    """Search numbered lines. With number 0, a finding names only the place."""
    found: list[Influence] = []
    window: list[str] = []
    last = 0
    for number, line in lines:
        if number != last + 1:
            window.clear()
        last = number
        window = [*window[-(_WINDOW_LINES - 1) :], _plain(line)]
        if _hides(line) or _speaks(window):
            where = f"{place}, line {number}" if number else place
            found.append(Influence(where, shorten(visible(line.strip()), _QUOTE_CHARS)))
            window.clear()
            if len(found) >= MAX_FOUND:
                break
    return found


def find_in_text(place: str, text: str) -> list[Influence]:
    """Search a text without useful line numbers."""
    named = find_influence(place, enumerate(text.split("\n"), start=1))
    return [Influence(place, each.quote) for each in named]


def is_subject_of(text: str) -> bool:
    """Return True if a goal or a file deals with such text, so that a finding means little."""
    return _SUBJECT.search(text) is not None or bool(find_in_text("", text))


def _plain(line: str) -> str:
    """Return a line as a reader sees it: with plain spaces and without invisible characters."""
    return " ".join(_INVISIBLE.sub("", line[:_LINE_CHARS]).split())


def _hides(line: str) -> bool:
    return not line.isascii() and _HIDDEN.search(_FLAG.sub("", line)) is not None


def _speaks(window: Sequence[str]) -> bool:
    text = " ".join(window)
    return any(pattern.search(text) for pattern in _PATTERNS)
