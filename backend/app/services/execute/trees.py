"""Lays out trees of a run's commits for agents and evaluators, and restores its history from the database."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID, uuid4
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from sqlalchemy import select

from app.core.errors import NotFoundError, WorkspaceError
from app.db.engine import Sessions
from app.db.models import Snapshot
from app.db.outages import through_outages
from app.schemas.workspaces import Diff
from app.services.execute.candidates import Committed
from app.workspaces.history.repository import RunRepository
from app.workspaces.store import JudgedPair, WorkspaceStore

REMEMBERED_COMMITS = 10_000
"""How many commits this process remembers to be in their repository; asking git costs milliseconds."""

REMEMBERED_FILES = 1_000
REMEMBERED_FILE_BYTES = 16_384
"""Files up to this size are remembered by commit: each attempt reads what configures its judging again."""


class RunTrees:
    """Provides trees of runs whose history another worker, on another machine, may have written."""

    def __init__(self, store: WorkspaceStore, sessions: Sessions) -> None:
        self._store = store
        self._sessions = sessions
        self._restoring: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
        self._present: OrderedDict[tuple[UUID, str], None] = OrderedDict()
        self._read: OrderedDict[tuple[UUID, str, str, int], bytes | None] = OrderedDict()

    async def repository(self, run_id: UUID, *commits: str) -> RunRepository:
        """Return a run's repository with these commits in it.

        Raises:
            NotFoundError: the database does not have the commits either.
        """
        repository = self._store.repository(run_id)
        lock = self._restoring.setdefault(run_id, asyncio.Lock())
        async with lock:
            if not repository.exists:
                await self._store.restore(run_id, await self._bundle(run_id, "base"))
                self._forget(run_id)
            for commit in dict.fromkeys(commits):
                if (run_id, commit) not in self._present and not await repository.has(commit):
                    await repository.add(await self._bundle(run_id, "attempt", commit))
                self._remember(run_id, commit)
        return repository

    def _remember(self, run_id: UUID, commit: str) -> None:
        self._present[run_id, commit] = None
        while len(self._present) > REMEMBERED_COMMITS:
            self._present.popitem(last=False)

    def _forget(self, run_id: UUID) -> None:
        for known in [each for each in self._present if each[0] == run_id]:
            del self._present[known]

    def sessions(self, run_id: UUID) -> Path:
        """Return the directory for conversations; it is removed with the run's files."""
        return self._store.sessions(run_id)

    @asynccontextmanager
    async def open(
        self, run_id: UUID, commit: str, count: int, claim: UUID | None = None
    ) -> AsyncGenerator[Sequence[Path]]:
        """Yield `count` fresh trees of a commit, found by `claim`; the end of the block removes them."""
        repository = await self.repository(run_id, commit)
        claim = claim or uuid4()
        try:
            trees = [self._store.tree(run_id, claim, index) for index in range(count)]
            for tree in trees:
                await repository.checkout(commit, tree)
            yield trees
        finally:
            with anyio.CancelScope(shield=True):
                await self._store.remove_claim(run_id, claim)

    async def look_at(self, run_id: UUID, claim: UUID, candidate: int, start: str) -> Diff:
        """Return the difference between a candidate's tree and the commit from which it started.

        Raises:
            WorkspaceError: the tree is gone or too large.
        """
        tree = await anyio.to_thread.run_sync(self._store.tree_at_work, run_id, claim, candidate)
        if tree is None:
            raise WorkspaceError("the workspace is gone")
        return await (await self.repository(run_id, start)).look_at(tree, start)

    async def commit(self, run_id: UUID, tree: Path, base: str, parent: str, message: str) -> Committed:
        """Commit the content of a tree, and make the bundle that carries it from the run's base."""
        repository = self._store.repository(run_id)
        made = await repository.commit_tree(tree, parent, message)
        bundle = await repository.bundle(made.commit, base)
        self._remember(run_id, made.commit)
        return Committed(
            commit=made.commit,
            tree=made.tree,
            changed_files=list(made.changed_files),
            dropped=[f"{each.path}: {each.reason}" for each in made.dropped],
            bundle=bundle,
        )

    @asynccontextmanager
    async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
        """Yield copies of a commit and of the base that no agent has touched."""
        await self.repository(run_id, commit)
        async with self._store.judged(run_id, commit, base_commit) as pair:
            yield pair

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        """Return the first `limit` bytes of a file in a commit, or None if the commit lacks it."""
        asked = (run_id, commit, path, limit)
        if asked in self._read:
            self._read.move_to_end(asked)
            return self._read[asked]
        repository = await self.repository(run_id, commit)
        content = await repository.read_file(commit, path, limit)
        if content is None or len(content) <= REMEMBERED_FILE_BYTES:
            self._read[asked] = content
            while len(self._read) > REMEMBERED_FILES:
                self._read.popitem(last=False)
        return content

    async def _bundle(self, run_id: UUID, kind: str, commit: str | None = None) -> bytes:
        statement = select(Snapshot.bundle).where(Snapshot.run_id == run_id, Snapshot.kind == kind)
        if commit is not None:
            statement = statement.where(Snapshot.commit == commit)

        async def read() -> bytes | None:
            async with self._sessions() as session:
                return await session.scalar(statement)

        bundle = await through_outages(read)
        if bundle is None:
            raise NotFoundError(f"the files of run {run_id} are no longer stored: {commit or 'its base'}")
        return bundle
