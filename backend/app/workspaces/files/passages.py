"""Finds the passages of a tree that match a query, by BM25 over the words of code and prose."""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

import bm25s

from app.workspaces.files.readable import ReadableFile, readable_files

PASSAGE_LINES = 40
PASSAGE_CHARS = 3_000
MAX_PASSAGES = 40_000
MAX_QUERY_CHARS = 20_000
MAX_WORD_CHARS = 100

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# The library sets a low level for its own logger, whatever the level of the others.
logging.getLogger("bm25s").setLevel(logging.WARNING)

_COMMON = frozenset(cast("Iterable[str]", cast("Any", bm25s).stopwords.STOPWORDS_EN))


class _Index(Protocol):
    def index(self, corpus: list[list[str]], *, show_progress: bool) -> None: ...

    def get_scores(self, query_tokens_single: list[str]) -> "_Scores": ...


class _Scores(Protocol):
    def tolist(self) -> list[float]: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A range of lines of a file. `first_line` counts from 1."""

    path: str
    first_line: int
    last_line: int
    text: str

    @property
    def place(self) -> str:
        """The path and line numbers, in the usual form of a citation."""
        return f"{self.path}:{self.first_line}-{self.last_line}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that matches, with its score. Scores are comparable within one search."""

    passage: Passage
    score: float


class PassageIndex:
    """A searchable index of a tree's passages."""

    def __init__(self, files: Iterable[ReadableFile]) -> None:
        self._passages: list[Passage] = []
        words: list[list[str]] = []
        for file in files:
            # The path counts as text of every passage in its file.
            named = words_of(file.path)
            for passage in passages_of(file):
                if len(self._passages) == MAX_PASSAGES:
                    break
                self._passages.append(passage)
                words.append([*named, *words_of(passage.text)])
        # The library cannot index an empty list, or a list of empty passages.
        self._index: _Index | None = cast("_Index", bm25s.BM25(backend="numpy")) if any(words) else None
        if self._index is not None:
            self._index.index(words, show_progress=False)

    @classmethod
    def of_tree(cls, root: Path) -> "PassageIndex":
        """Read a tree. The time grows with the tree's size, so call this in a thread."""
        return cls(readable_files(root))

    def search(self, query: str, limit: int) -> list[Hit]:
        """Return the passages that share words with the query, best first. Ties are ordered by place."""
        words = words_of(query[:MAX_QUERY_CHARS])
        if self._index is None or not words:
            return []
        scores = self._index.get_scores(words).tolist()
        hits = [
            Hit(passage, score) for passage, score in zip(self._passages, scores, strict=True) if score > 0
        ]
        hits.sort(key=lambda each: (-each.score, each.passage.path, each.passage.first_line))
        return hits[:limit]


def words_of(text: str) -> list[str]:
    """Return the words of prose or code. Names are also split, and plurals lose their `s`."""
    return [word for each in _WORD.findall(text) for word in _words_of_name(each)]


def passages_of(file: ReadableFile) -> Sequence[Passage]:
    """Cut a file into passages of at most 40 lines and about 3,000 characters, at blank lines if possible."""
    lines = file.text.splitlines(keepends=True)
    passages: list[Passage] = []
    start = 0
    while start < len(lines):
        end = _end(lines, start)
        text = "".join(lines[start:end])
        if text.strip():
            passages.append(Passage(file.path, start + 1, end, text[: 2 * PASSAGE_CHARS]))
        start = end
    return passages


def _end(lines: Sequence[str], start: int) -> int:
    """Return the line after the last one of a passage."""
    end, chars = start, 0
    while end < len(lines) and end - start < PASSAGE_LINES and chars < PASSAGE_CHARS:
        chars += len(lines[end])
        end += 1
    if end == len(lines):
        return end
    half = start + (end - start) // 2
    blank = next((number for number in range(end - 1, half, -1) if not lines[number].strip()), None)
    return end if blank is None else blank + 1


@lru_cache(maxsize=50_000)
def _words_of_name(name: str) -> tuple[str, ...]:
    parts = _HUMP.split(name)
    words = map(_plain, parts if len(parts) == 1 else [*parts, name])
    return tuple(word for word in words if 1 < len(word) <= MAX_WORD_CHARS and word not in _COMMON)


def _plain(word: str) -> str:
    lower = word.casefold()
    is_plural = len(lower) > 3 and lower.endswith("s") and not lower.endswith(("ss", "us", "is"))
    return lower[:-1] if is_plural else lower
