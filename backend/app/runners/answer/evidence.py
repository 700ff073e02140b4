"""Finds evidence for answers in a workspace: passages about the query, and more where the answer has gaps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import anyio.to_thread

from app.schemas.text import storable_text
from app.workspaces.files.passages import Hit, PassageIndex

ENTRIES_AT_ONCE = 10
_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class WorkspaceEvidence:
    """The passages of one workspace, read once.

    Each entry begins with the file and lines that it comes from.
    """

    index: PassageIndex

    @classmethod
    async def of_workspace(cls, workspace: Path) -> "WorkspaceEvidence":
        """Read a workspace, without secrets and files that are not text."""
        return cls(await anyio.to_thread.run_sync(PassageIndex.of_tree, workspace))

    async def first(self, query: str) -> Sequence[str]:
        """Return the entries that match the query. The list may be empty."""
        return await self.more(query, (), ())

    async def more(self, query: str, gaps: Sequence[str], known: Sequence[str]) -> Sequence[str]:
        """Return entries that match the gaps and are not in `known`. The list may be empty.

        The best entry of every gap comes first, then the second best of every gap, and so on. Entries that
        match only the query come last.
        """
        wanted = [*(gap for gap in gaps if gap.strip()), query]
        return await anyio.to_thread.run_sync(self._search, wanted, frozenset(known))

    def _search(self, wanted: Sequence[str], known: frozenset[str]) -> Sequence[str]:
        entries: dict[str, None] = {}
        for hit in _in_turn([self.index.search(each, _LOOKED_AT) for each in wanted]):
            entry = storable_text(f"{hit.passage.place}\n{hit.passage.text.rstrip()}")
            if entry not in known:
                entries[entry] = None
            if len(entries) == ENTRIES_AT_ONCE:
                break
        return list(entries)


def _in_turn(found: Sequence[Sequence[Hit]]) -> Iterator[Hit]:
    return (hit for row in zip_longest(*found) for hit in row if hit is not None)
