"""Judges what other people push to the branch of a pull request, without an agent."""

import glob
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import anyio
from sqlalchemy import select

from app.db.engine import Sessions
from app.db.models import ForgeReport
from app.forges.port import CommitStatus
from app.forges.repositories import Member
from app.forges.reviews import PushVerdict, ReviewedPull, ReviewForge
from app.schemas.forges import PushStatus
from app.schemas.workspaces import GitSource
from app.services.execute.trees import RunTrees
from app.services.forges.newest import is_of_pull, newest_run, was_pushed
from app.services.forges.statuses import status_of_push
from app.services.review.rechecks import Judged, RecheckService
from app.services.review.results import ResultService
from app.workspaces.files.removal import remove_tree
from app.workspaces.sources.continuing import BranchHead
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.merging import MergeOutcome
from app.workspaces.sources.pushed import Target, merging_pushed


@dataclass(frozen=True, slots=True)
class JudgedPush:
    """The verdict on a push, and the status that tells of it."""

    verdict: PushVerdict
    status: CommitStatus


class PushService:
    """Judges heads of pull requests that the service did not push.

    Args:
        sessions: opens short transactions; none is open while a head is judged.
        results: finds results.
        trees: knows the runs' commits.
        rechecks: judges files.
        sources: which sources and credentials are allowed.
    """

    def __init__(
        self,
        sessions: Sessions,
        results: ResultService,
        trees: RunTrees,
        rechecks: RecheckService,
        sources: SourcePolicy,
    ) -> None:
        self._sessions = sessions
        self._results = results
        self._trees = trees
        self._rechecks = rechecks
        self._sources = sources

    async def is_own(self, root_run_id: UUID, commit: str) -> bool:
        """Tell whether the first run of a pull request or one of its rounds pushed a commit."""
        row = ForgeReport
        mine = select(row.run_id).where(is_of_pull(root_run_id), row.pushed.contains([commit])).limit(1)
        async with self._sessions() as session:
            return await session.scalar(mine) is not None

    async def judge(
        self, root_run_id: UUID, member: Member, forge: ReviewForge, pull: ReviewedPull, link: str | None
    ) -> JudgedPush | None:
        """Judge the head of a pull request, merged with its target, as the newest result was judged.

        Files that people changed since that result may be protected ones: their changes count as agreed to.

        Returns:
            None if the service has pushed no result so far.

        Raises:
            ForgeError: the forge is away.
            ConflictError: the branch has moved.
            InvalidInputError, WorkspaceError, NotFoundError: the commits cannot be fetched or judged.
        """
        async with self._sessions() as session:
            newest = await newest_run(session, is_of_pull(root_run_id), was_pushed())
        if newest is None:
            return None
        run_id = newest.run.id
        known = (await self._results.result(run_id)).commit
        common = await forge.merge_base(member.repository.name, pull.target_head, pull.head)
        head = BranchHead(pull.branch, pull.head, common)
        target = Target(pull.target, pull.target_head)
        source = GitSource(url=member.clone_url, credential=member.forge.credential)
        run = await self._trees.repository(run_id, known)
        place = Path(await anyio.mkdtemp(prefix="phaserunner-push-"))
        try:
            async with merging_pushed(source, head, target, run, known, self._sources) as pushed:
                outcome = pushed.merge.outcome
                trees = None if outcome.conflicts else await pushed.merge.check_out(place)
            opened = [glob.escape(each) for each in pushed.changed]
            judged = await self._rechecks.judge(run_id, *trees, opened) if trees else None
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)
        verdict = _conflicting(pull.head, outcome) if judged is None else _verdict(pull.head, judged)
        return JudgedPush(verdict, status_of_push(verdict, judged, link))


def _conflicting(commit: str, outcome: MergeOutcome) -> PushVerdict:
    names = ", ".join(outcome.conflicts)
    return PushVerdict(commit, "conflicts", f"It conflicts with {outcome.branch}: {names}")


def _verdict(commit: str, judged: Judged) -> PushVerdict:
    verdict = judged.verdict
    status: PushStatus = verdict.status.value
    deciding = {*verdict.failed_gates, *verdict.errored_gates}
    found = [
        f"{each.evaluator_name}: {each.feedback}"
        for each in judged.results
        if each.evaluator_name in deciding
    ]
    return PushVerdict(commit, status, "\n".join([verdict.reason, *found]))
