"""What the service needs from a forge, in terms that fit every forge."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

StatusState = Literal["pending", "success", "failure", "error"]


class ForgeError(Exception):
    """A forge did not do what it was asked; the text says why and contains no secret.

    Attributes:
        permanent: whether another try would fail in the same way.
        retry_at: the time from which the forge accepts another try, if the forge reports it.
        is_away: whether the forge gave no answer, or failed itself.
    """

    def __init__(
        self,
        message: str,
        *,
        permanent: bool = False,
        retry_at: datetime | None = None,
        is_away: bool = False,
    ) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.retry_at = retry_at
        self.is_away = is_away


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue; `body` and `title` are untrusted text."""

    number: int
    title: str
    body: str
    url: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request. `node_id` is its id in GraphQL; `ended_at` is None while it is open."""

    number: int
    url: str
    state: Literal["open", "closed"]
    draft: bool
    merged: bool
    body: str
    node_id: str = ""
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPullRequest:
    """A pull request to open."""

    title: str
    body: str
    head: str
    base: str
    draft: bool


@dataclass(frozen=True, slots=True)
class Annotation:
    """A finding at a line of a commit. `blocks` is False for advice."""

    path: str
    line: int
    title: str
    message: str
    blocks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStatus:
    """The status of a commit.

    Attributes:
        state: `error` means that a gate reached no verdict, so that a person must act.
        description: one short line.
        url: the address of further information.
        annotations: findings at lines, for forges that show them.
    """

    state: StatusState
    description: str
    url: str | None = None
    annotations: Sequence[Annotation] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPull:
    """A pull request that was merged.

    Attributes:
        number: its number.
        commit: what the merge left on the target: a merge commit, one commit for all,
            or the newest of several.
        head: commit of the branch that was merged.
        commits: how many commits the pull request had.
        target: name of the branch that took it.
        at: when it was merged.
    """

    number: int
    commit: str
    head: str
    commits: int
    target: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a branch. `at` is when it was committed."""

    id: str
    message: str
    at: datetime


class Forge(Protocol):
    """A forge. Repositories are named `owner/name`. Every method may raise `ForgeError`."""

    async def login(self) -> str:
        """Return the name of the account under which the service acts."""
        ...

    async def issue(self, repository: str, number: int) -> Issue:
        """Read an issue."""
        ...

    def issues(self, repository: str, labels: Sequence[str]) -> AsyncGenerator[Sequence[Issue]]:
        """Yield the open issues with all of these labels in pages, oldest first; a page may be empty."""
        ...

    async def default_branch(self, repository: str) -> str:
        """Return the branch that pull requests go to."""
        ...

    async def may_write(self, repository: str, user: str) -> bool:
        """Return whether a user may push to a repository."""
        ...

    async def find_pull(self, repository: str, branch: str) -> PullRequest | None:
        """Find the newest pull request of a branch, whatever its state."""
        ...

    async def open_pull(self, repository: str, new: NewPullRequest) -> PullRequest:
        """Open a pull request, or return the one that the branch already has."""
        ...

    async def update_pull(self, repository: str, number: int, body: str) -> None:
        """Replace the description of a pull request."""
        ...

    async def mark_ready(self, pull: PullRequest) -> None:
        """Make a draft ready for review."""
        ...

    async def merged(self, repository: str, number: int) -> MergedPull | None:
        """Return how a pull request was merged; None if it was not."""
        ...

    async def commits_since(self, repository: str, branch: str, at: datetime) -> Sequence[Commit]:
        """List the commits of a branch since a time, at most 500, in any order."""
        ...

    async def set_status(self, repository: str, commit: str, status: CommitStatus) -> None:
        """Set the status of a commit, in place of the previous one."""
        ...

    async def put_comment(
        self, repository: str, issue: int, marker: str, body: str, known: int | None, *, on_pull: bool = False
    ) -> int:
        """Write the only comment with a marker, or replace its text, and return its id.

        Args:
            repository: the repository of the issue.
            issue: number of the issue or pull request.
            marker: text that only this comment of the service contains.
            body: text of the comment, including the marker.
            known: id of the comment, if it is known.
            on_pull: whether `issue` is the number of a pull request.
        """
        ...


ForgesByName = Mapping[str, Forge]


async def writers_among(forge: Forge, repository: str, users: Collection[str]) -> frozenset[str]:
    """Return the users who may write to a repository, without the service's own account.

    Raises:
        ForgeError: the forge cannot be asked.
    """
    others = set(users) - {"", await forge.login()}
    return frozenset([each for each in sorted(others) if await forge.may_write(repository, each)])
