"""Finds the workspace files that a loop sees: files that it names, and files that match its description."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from app.runners.loop.roles import ContextFile, Exhausted, Trouble
from app.schemas.loop.results import FailureReason
from app.schemas.text import storable_text
from app.workspaces.files.passages import Hit, Passage, PassageIndex
from app.workspaces.files.readable import UnreadableFileError, read_shown

FORCED_CHARS = 200_000
FOUND_CHARS = 40_000
FILE_CHARS = 12_000
"""Maximum characters of a found file. Of a longer file, the passages that match best are shown."""

MAX_FOUND = 12
_LOOKED_AT = 200
_WORTH_SHOWING = 0.25
"""Passages below this share of the best passage's score are dropped as noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceContext:
    """Finds files in one directory. It never shows secrets or files that are not text.

    Attributes:
        workspace: the directory.
        found_chars: limit in characters for all found files together; named files have a separate limit.
    """

    workspace: Path
    found_chars: int = FOUND_CHARS

    async def __call__(
        self, description: str, paths: Sequence[str], *, search: bool
    ) -> Sequence[ContextFile] | Trouble | Exhausted:
        """Return the named files and, with `search`, those that match the description, best first."""
        return await anyio.to_thread.run_sync(self._look, description, tuple(dict.fromkeys(paths)), search)

    def _look(
        self, description: str, paths: Sequence[str], search: bool
    ) -> Sequence[ContextFile] | Trouble | Exhausted:
        try:
            named = [
                ContextFile(path, storable_text(read_shown(self.workspace, path)), named=True)
                for path in paths
            ]
        except UnreadableFileError as error:
            return Trouble(FailureReason.CONTEXT_RETRIEVAL_FAILURE, f"file_paths: {error}")
        used = sum(len(each.text) for each in named)
        if used > FORCED_CHARS:
            text = f"file_paths: the files have {used:,} characters; at most {FORCED_CHARS:,} are shown"
            return Exhausted("context", used, FORCED_CHARS, text)
        if not search:
            return named
        index = PassageIndex.of_tree(self.workspace)
        hits = index.search(description, _LOOKED_AT)
        return [*named, *self._found(hits, set(paths))]

    def _found(self, hits: Sequence[Hit], known: set[str]) -> Iterable[ContextFile]:
        room = self.found_chars
        for count, (path, passages) in enumerate(_by_file(hits, known).items()):
            if count == MAX_FOUND:
                return
            text, whole = self._shown(path, passages, min(FILE_CHARS, room))
            if text:
                room -= len(text)
                yield ContextFile(path, storable_text(text), whole=whole)

    def _shown(self, path: str, passages: Sequence[Passage], room: int) -> tuple[str, bool]:
        """Return the whole file, or the best passages of a file that is too long, in their order."""
        try:
            text = read_shown(self.workspace, path)
        except UnreadableFileError:
            # The file has disappeared since the tree was read.
            return "", False
        if len(text) <= room:
            return text, True
        chosen: list[Passage] = []
        for each in passages:
            room -= len(_cited(each))
            if room < 0:
                break
            chosen.append(each)
        chosen.sort(key=lambda each: each.first_line)
        return "\n".join(map(_cited, chosen)), False


def _by_file(hits: Sequence[Hit], known: set[str]) -> Mapping[str, list[Passage]]:
    """Return the passages worth showing by file: the best file first, and in it the best passage first."""
    enough = _WORTH_SHOWING * hits[0].score if hits else 0.0
    files: dict[str, list[Passage]] = {}
    for hit in hits:
        if hit.score >= enough and hit.passage.path not in known:
            files.setdefault(hit.passage.path, []).append(hit.passage)
    return files


def _cited(passage: Passage) -> str:
    return f"[lines {passage.first_line} to {passage.last_line}]\n{passage.text}"
