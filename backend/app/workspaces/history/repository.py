"""The git history of one run: a bare repository outside every working tree."""

from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.schemas.workspaces import CUT_HERE, Diff, FileDiff
from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.files.origin import TreeOrigin, is_description, write_origin
from app.workspaces.files.paths import EXCLUDE_FILE
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.bundle import Bundle, decode_bundle, object_count
from app.workspaces.history.diffs import (
    DEFAULT_DIFF_LIMITS,
    WHOLE_FILE_LIMITS,
    DiffLimits,
    read_changes,
    read_diff,
    read_named,
    read_patch,
)
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.history.line_ends import crlf_rules
from app.workspaces.history.looking import look_at
from app.workspaces.history.notes import BASE_REF, notes_in, read_notes, write_notes
from app.workspaces.history.refs import check_branch
from app.workspaces.history.trees import Checkout, CommitOutcome, TreeWork
from app.workspaces.together import together

# Overrides every `.gitattributes` of a tree: bytes are stored and returned unchanged, except for line endings
# (see `crlf_rules`), no driver is looked up, and no file can hide from a diff.
_ATTRIBUTES = "* -text !eol -ident -filter -working-tree-encoding !diff !merge !export-ignore !export-subst\n"
_HEAD_REF = "refs/phaserunner/head"
_SHA256_LENGTH = 64
MAX_DIFF_TEXT_BYTES = 64_000_000


class RunRepository:
    """The commits of one run. Trees are checked out of it and committed to it.

    The base commit is its boundary: it does not hold the user's earlier history.
    """

    def __init__(self, git: Git, path: Path, limits: WorkspaceLimits = DEFAULT_LIMITS) -> None:
        self.git = git
        self.path = path
        self.limits = limits
        self.target = GitTarget(path)
        self._trees = TreeWork(git, path, limits)

    @property
    def exists(self) -> bool:
        """True if the repository holds a base commit."""
        return (self.path / BASE_REF).exists()

    async def create(self, object_format: str = "sha1") -> None:
        """Create an empty repository. Remove the remains of an interrupted import."""
        await remove_tree(self.path)
        await anyio.to_thread.run_sync(lambda: self.path.mkdir(parents=True))
        init = ["init", "-q", "--bare", "--template=", f"--object-format={object_format}"]
        await self.git.run(init, self.target)
        await anyio.to_thread.run_sync(self._write_rules)

    async def close_history_at(self, base: str) -> None:
        """Make `base` the boundary. From then on the repository counts as complete."""
        rules = await crlf_rules(self.git, self.target, base)
        await anyio.to_thread.run_sync(self._write_rules, rules)
        await anyio.to_thread.run_sync(self._write_boundary, base)

    async def has(self, commit: str) -> bool:
        """Return True if the repository has a commit."""
        outcome = await self.git.attempt(["cat-file", "-e", f"{commit}^{{commit}}"], self.target)
        return outcome.returncode == 0

    async def tree_of(self, commit: str) -> str:
        """Return the id of a commit's tree.

        Raises:
            GitError: there is no such commit.
        """
        found = await self.git.run(["rev-parse", "--verify", "-q", f"{commit}^{{tree}}"], self.target)
        return found.decode().strip()

    async def read_file(self, commit: str, path: str, limit: int) -> bytes | None:
        """Return the first `limit` bytes of a file in a commit, or None if there is no file at this path.

        Raises:
            GitError: there is no such commit.
        """
        command = ["cat-file", "blob", f"{commit}:{path}"]
        outcome = await self.git.attempt(command, self.target, output_limit=limit)
        if outcome.returncode == 0 or outcome.truncated:
            return outcome.stdout
        listed = await self.git.run(["ls-tree", "-z", commit, "--", path], self.target)
        if b" blob " not in listed:
            return None
        return await self.git.run(command, self.target)

    async def checkout(self, commit: str, dest: Path) -> Checkout:
        """Write a commit's files to `dest`, which must not exist, without any `.git`.

        Links that lead out of the tree are reported instead of created. Submodules stay empty directories,
        unless their files were recorded with `note_filling`.

        Raises:
            FileExistsError: `dest` exists.
            GitError: there is no such commit.
        """
        notes = await anyio.to_thread.run_sync(read_notes, self.path)
        return await self._trees.checkout(commit, dest, notes.filling)

    async def checkout_base(self, commit: str, dest: Path) -> Checkout:
        """Write a base's files like `checkout`, and its origin beside them; see `origin_of`."""
        made, shown = await together(
            self.checkout(commit, dest),
            self.git.attempt(["show", "-s", "--format=%ct", commit], self.target),
        )
        lines = shown.stdout.split()
        committed = int(lines[-1]) if shown.returncode == 0 and lines and lines[-1].isdigit() else 0
        notes = await anyio.to_thread.run_sync(read_notes, self.path)
        await anyio.to_thread.run_sync(write_origin, dest, TreeOrigin(committed, notes.described))
        return made

    async def note_description(self, described: str) -> None:
        """Record the base's description in its original repository. Texts in another form are ignored.

        Args:
            described: the output of `git describe --long`.
        """
        if is_description(described):
            await self._note(described=described)

    async def note_filling(self, filling: str) -> None:
        """Record the commit with the files to which the run's commits only refer; see `make_filling`."""
        await self._note(filling=filling)

    async def _note(self, **what: str) -> None:
        notes = await anyio.to_thread.run_sync(read_notes, self.path)
        await anyio.to_thread.run_sync(write_notes, self.path, replace(notes, **what))

    async def commit_tree(self, tree: Path, parent: str | None, message: str) -> CommitOutcome:
        """Commit everything in a tree that neither its `.gitignore` nor ours excludes.

        Files that cannot be committed are removed from the tree and reported. A tree equal to the parent's
        still gives a commit.

        Args:
            tree: a directory, usually from `checkout`.
            parent: the commit from which it started; None creates a root commit with a fixed date.
            message: the commit message.

        Raises:
            WorkspaceError: the tree is gone or larger than the limits allow.
        """
        return await self._trees.commit(tree, parent, message)

    async def look_at(self, tree: Path, start: str) -> Diff:
        """Compare a tree in which an agent works with the commit from which it started. Nothing is changed.

        Raises:
            WorkspaceError: the tree is gone or larger than the limits allow.
        """
        return await look_at(self.git, self.path, tree, start, self.limits)

    async def bundle(self, head: str, base: str | None = None) -> bytes:
        """Return the bundle for `restore`: `head` alone without history, or `head` on top of `base`.

        Raises:
            GitError: a commit is not here.
        """
        if base is None:
            notes = await anyio.to_thread.run_sync(read_notes, self.path)
            pack = await self._pack(head, also=notes.filling)
            return Bundle(head, notes.ref, (), pack).encode()
        return Bundle(head, _HEAD_REF, (base,), await self._pack(head, base)).encode()

    async def restore(self, base_bundle: bytes, *bundles: bytes) -> str:
        """Recreate the repository from a base's bundle and bundles of later commits. Return the base commit.

        Raises:
            WorkspaceError: something is not a bundle, is damaged, or lacks its commit.
        """
        base = decode_bundle(base_bundle)
        await self.create("sha256" if len(base.commit) == _SHA256_LENGTH else "sha1")
        for each in (base, *(decode_bundle(data) for data in bundles)):
            await self._take_in(each)
        await anyio.to_thread.run_sync(write_notes, self.path, notes_in(base.ref))
        await self.close_history_at(base.commit)
        return base.commit

    async def add(self, *bundles: bytes) -> None:
        """Add further commits on top of the existing ones.

        Raises:
            WorkspaceError: something is not a bundle, is damaged, or lacks its commit.
        """
        for data in bundles:
            await self._take_in(decode_bundle(data))

    async def diff(
        self, base: str, head: str, paths: list[str] | None = None, limits: DiffLimits = DEFAULT_DIFF_LIMITS
    ) -> Diff:
        """Compare two commits file by file; `paths` are literal files or directories.

        Raises:
            GitError: a commit is not here.
        """
        return await read_diff(self.git, self.target, base, head, paths or [], limits)

    async def changed_files(self, base: str, head: str) -> tuple[FileDiff, ...]:
        """Return the files that differ between two commits, without their patches.

        Raises:
            GitError: a commit is not here.
        """
        return await read_changes(self.git, self.target, base, head)

    async def diff_of(self, base: str, head: str, names: list[str], context: int = 3) -> Diff:
        """Compare some files of two commits, named as `diff` shows them, with up to 32 MB of patches.

        Each change is shown with `context` unchanged lines around it.

        Raises:
            GitError: a commit is not here.
            InvalidInputError: one of the files did not change.
        """
        return await read_named(
            self.git, self.target, base, head, names, replace(WHOLE_FILE_LIMITS, context=context)
        )

    async def diff_text(self, base: str, head: str, limit: int = MAX_DIFF_TEXT_BYTES) -> str:
        """Return the unified diff as text of at most `limit` bytes, cut at a line end."""
        patch, cut = await read_patch(self.git, self.target, base, head, [], limit)
        return patch.decode("utf-8", "replace") + (CUT_HERE if cut else "")

    async def patch(self, base: str, head: str) -> bytes:
        """Return a patch for `git apply`, binary files included.

        Raises:
            GitError: a commit is not here, or the patch is larger than 256 MB.
        """
        text = ["--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color"]
        options = ["-r", "-p", "-M", *text]
        return await self.git.run(["diff-tree", *options, base, head, "--"], self.target)

    async def bundle_for_export(self, base: str, head: str, branch: str) -> bytes:
        """Return a bundle from which `git fetch FILE BRANCH` gets the result.

        It attaches to the user's history if the base has one. Otherwise it is complete by itself.

        Raises:
            InvalidInputError: `branch` is not a branch name.
            GitError: a commit is not here.
        """
        ref = f"refs/heads/{check_branch(branch)}"
        header, _, _ = (await self.git.run(["cat-file", "commit", base], self.target)).partition(b"\n\n")
        if b"\nparent " in header:
            return Bundle(head, ref, (base,), await self._pack(head, base)).encode()
        return Bundle(head, ref, (), await self._pack(head)).encode()

    async def check_limits(self, commit: str, field: str | None) -> None:
        """Refuse a commit with more files or bytes than a workspace may have.

        Raises:
            WorkspaceError: the commit is too large. The message names `field`.
        """
        listing = await self.git.run(["ls-tree", "-r", "-l", "-z", commit], self.target)
        sizes = [entry.split(b"\t", 1)[0].split()[-1] for entry in listing.split(b"\0") if entry]
        size = sum(int(each) for each in sizes if each != b"-")
        self.limits.check("the source", len(sizes), size, field=field)

    async def _pack(self, head: str, base: str | None = None, also: str = "") -> bytes:
        wanted = f"{head}\n{also}\n".strip() + (f"\n^{base}\n" if base else "\n")
        command = ["pack-objects", "--revs", "--thin", "--stdout", "--delta-base-offset", "-q"]
        return await self.git.run(command, self.target, stdin=wanted.encode())

    async def _take_in(self, bundle: Bundle) -> None:
        if object_count(bundle.pack):
            await self.git.run(["index-pack", "--stdin", "--fix-thin"], self.target, stdin=bundle.pack)
        if not await self.has(bundle.commit):
            raise WorkspaceError(f"a stored snapshot lacks its commit {bundle.commit}")

    def _write_boundary(self, base: str) -> None:
        (self.path / "shallow").write_text(f"{base}\n")
        ref = self.path / BASE_REF
        ref.parent.mkdir(exist_ok=True)
        draft = ref.with_suffix(".lock")
        draft.write_text(f"{base}\n")
        draft.rename(ref)

    def _write_rules(self, more: bytes = b"") -> None:
        info = self.path / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_bytes(_ATTRIBUTES.encode() + more)
        (info / "exclude").write_text(EXCLUDE_FILE)
