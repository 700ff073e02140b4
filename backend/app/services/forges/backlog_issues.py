"""Adds open issues of a forge to the backlog."""

from collections.abc import Sequence
from contextlib import aclosing

from app.core.errors import InvalidInputError, UnavailableError, WorkspaceError
from app.db.engine import Sessions
from app.forges.port import ForgeError, ForgesByName, Issue
from app.forges.repositories import Member, Members
from app.schemas.api.backlog import BacklogAdd, BacklogIssues, BacklogItemCreate, BacklogItems
from app.schemas.forges import ForgeOrigin
from app.services.backlog.items import BacklogService
from app.services.backlog.reading import known_issues
from app.services.forges.issues import sprint_for


class BacklogIssueService:
    """Adds the issues that a query finds.

    Args:
        sessions: opens short sessions.
        backlog: adds items.
        members: the repositories that take part.
        forges: adapters by name.
    """

    def __init__(
        self, sessions: Sessions, backlog: BacklogService, members: Members, forges: ForgesByName
    ) -> None:
        self._sessions = sessions
        self._backlog = backlog
        self._members = members
        self._forges = forges

    async def add(self, request: BacklogIssues, actor: str) -> BacklogItems:
        """Add the open issues that a query finds and that have neither an item nor a run, oldest first.

        Raises:
            InvalidInputError: the repository is not in the operator's file.
            UnavailableError, WorkspaceError: the forge does not return the issues, or
                the source cannot be used.
        """
        member = self._members.of_url(request.repository)
        if member is None:
            raise InvalidInputError(
                f"{request.repository[:200]!r} is not a repository in FORGES_FILE", field="repository"
            )
        new = await self._find(member, request)
        if not new:
            return BacklogItems(items=[])
        items = [
            BacklogItemCreate(
                sprint=sprint_for(member, each, agent=request.agent, policy=request.policy),
                priority=request.priority,
            )
            for each in new
        ]
        return await self._backlog.add(
            BacklogAdd(items=items), actor, origins=[_origin(member, each) for each in new]
        )

    async def _find(self, member: Member, request: BacklogIssues) -> Sequence[Issue]:
        """Return the oldest issues that are new; those that are known do not count towards the limit."""
        forge, new = self._forges[member.repository.forge], list[Issue]()
        try:
            async with aclosing(forge.issues(member.repository.name, request.labels)) as pages:
                async for page in pages:
                    known = await self._known(member, [each.number for each in page])
                    new += [each for each in page if each.number not in known]
                    if len(new) >= request.limit:
                        break
        except ForgeError as error:
            if error.retry_at is not None:
                raise UnavailableError(str(error)) from error
            raise WorkspaceError(str(error), field="repository") from error
        return new[: request.limit]

    async def _known(self, member: Member, numbers: Sequence[int]) -> set[int]:
        async with self._sessions() as session:
            repository = member.repository
            return await known_issues(session, repository.forge, repository.name, numbers)


def _origin(member: Member, issue: Issue) -> ForgeOrigin:
    repository = member.repository
    return ForgeOrigin(forge=repository.forge, repository=repository.name, issue=issue.number)
