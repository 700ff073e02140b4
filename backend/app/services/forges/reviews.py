"""Follows pull requests until they are merged: looks at those that are due, and starts rounds.

A review sleeps as a row. Deliveries, a round's report and the passing of time make it due. Each look reads
the pull request afresh, so deliveries that are lost, repeated or out of order change only when that is.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, update

from app.core.errors import PhaseRunnerError
from app.db.engine import Sessions
from app.db.models import ForgeReport, ForgeReview, Run
from app.forges.deliveries import OWN
from app.forges.descriptions import cell
from app.forges.operator_file import ReviewRules
from app.forges.port import ForgeError, ForgesByName
from app.forges.repositories import Member, Members
from app.forges.reviews import (
    Answered,
    PullFacts,
    ReviewDecision,
    ReviewForge,
    ReviewState,
    decide_review,
)
from app.schemas.runs import RunStatus
from app.services.chores.webhooks import pause_after
from app.services.forges.leases import Leases
from app.services.forges.outcomes import note_outcome
from app.services.forges.returns import find_refusal
from app.services.forges.rounds import Round, RoundService

logger = logging.getLogger(__name__)

_MAX_PAUSES = 6
"""Pauses after failures grow so often."""

_TOLD = (ReviewState.WORKING, ReviewState.SPENT, ReviewState.STOPPED)
"""States that a comment on the pull request tells of."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A review as it was taken."""

    run_id: UUID
    state: str
    rounds: int
    round_run_id: UUID | None
    asked: list[str]
    answered: list[str]
    tries: int
    comment_id: int | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a review takes place."""

    member: Member
    rules: ReviewRules
    forge: ReviewForge
    number: int


@dataclass(frozen=True, slots=True)
class _EndedRound:
    """How a round ended. `commits` are those that the branch has if only the service pushed."""

    run_id: UUID
    status: RunStatus
    problem: str
    commits: frozenset[str]


class ReviewChore:
    """Looks at the reviews that are due. Any number of workers do so.

    Args:
        sessions: opens short transactions; none is open while a forge is waited for.
        members: repositories that take part.
        forges: adapters by name, for comments.
        reviews: what reads reviews, by name of the forge.
        rounds: starts rounds.
    """

    def __init__(
        self,
        sessions: Sessions,
        members: Members,
        forges: ForgesByName,
        reviews: Mapping[str, ReviewForge],
        rounds: RoundService,
    ) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._reviews = reviews
        self._rounds = rounds
        self._leases = Leases(
            sessions=sessions,
            table=ForgeReview,
            due_at="look_at",
            make=_Due,
        )

    async def __call__(self) -> int:
        """Look at what is due; returns how many reviews were tried."""
        return await self._leases.work(self._attempt)

    async def _attempt(self, due: _Due) -> None:
        place = await self._place(due.run_id)
        if place is None:
            await self._record(due, {"look_at": None, "reason": "the repository is no longer followed"})
            return
        try:
            await self._look(due, place)
        except ForgeError as error:
            await self._postpone(due, str(error), error.retry_at)
        except PhaseRunnerError as error:
            await self._postpone(due, error.detail, None)

    async def _place(self, run_id: UUID) -> _Place | None:
        async with self._sessions() as session:
            report = await session.get_one(ForgeReport, run_id)
        member = self._members.named(report.forge, report.repository)
        rules = member.repository.review if member else None
        forge = self._reviews.get(report.forge)
        if member is None or rules is None or forge is None or report.pull_number is None:
            return None
        return _Place(member, rules, forge, report.pull_number)

    async def _look(self, due: _Due, place: _Place) -> None:
        ended: _EndedRound | None = None
        if due.state == ReviewState.WORKING and due.round_run_id is not None:
            ended = await self._ended_round(due.round_run_id)
            if ended is None:
                await self._rest(due, place, {})
                return
        facts = await place.forge.facts(place.member.repository.name, place.number)
        if ended is not None:
            due = await self._close_round(due, place, ended, facts)
        refusal = await find_refusal(self._sessions, due.round_run_id) if due.round_run_id else None
        facts = replace(facts, refusal=refusal)
        answered = Answered(frozenset(due.answered), due.rounds, place.rules.rounds)
        decision = decide_review(facts, answered)
        if decision.feedback:
            await self._begin(due, place, facts, decision)
            return
        stays = decision.state is ReviewState.WATCHING and due.state == ReviewState.STOPPED
        values: dict[str, Any] = {} if stays else {"state": decision.state, "reason": decision.reason}
        await self._tell(due, place, decision)
        await self._rest(due, place, values | _seen(facts), ended=facts.pull.pull.state == "closed")
        if facts.pull.pull.state == "closed":
            async with self._sessions.begin() as session:
                await note_outcome(session, due.run_id, facts.pull.pull)

    async def _ended_round(self, run_id: UUID) -> _EndedRound | None:
        """Read how a round ended; None while it works, or while its result is on its way to the forge."""
        async with self._sessions() as session:
            status = RunStatus((await session.get_one(Run, run_id)).status)
            report = await session.get_one(ForgeReport, run_id)
        if not status.is_final or report.reported < report.wanted:
            return None
        commits = frozenset([*report.parents[:1], *report.pushed])
        return _EndedRound(run_id, status, report.last_error, commits)

    async def _close_round(self, due: _Due, place: _Place, ended: _EndedRound, facts: PullFacts) -> _Due:
        if facts.pull.head not in ended.commits:
            # People pushed while it worked. Their commits stay, and the next round begins with them.
            return await self._change(due, ReviewState.WATCHING, "other commits were pushed", due.answered)
        answered = [*due.answered, *due.asked]
        if ended.status is RunStatus.COMPLETED and not ended.problem:
            return await self._change(due, ReviewState.WATCHING, "the round was pushed", answered)
        if await find_refusal(self._sessions, ended.run_id):
            # What it was asked is still to be answered, by the next round.
            return await self._change(due, ReviewState.WATCHING, "the round was refused", due.answered)
        why = ended.problem or f"its sprint is {ended.status.value}"
        reason = f"round {due.rounds} pushed nothing: {why}"
        await self._tell(due, place, ReviewDecision(ReviewState.STOPPED, reason))
        return await self._change(due, ReviewState.STOPPED, reason, answered)

    async def _change(self, due: _Due, state: ReviewState, reason: str, answered: list[str]) -> _Due:
        values = {"state": state, "reason": reason, "answered": answered, "asked": []}
        async with self._sessions.begin() as session:
            await session.execute(_of(due).values(values))
        return _Due(due.run_id, state, due.rounds, due.round_run_id, [], answered, due.tries, due.comment_id)

    async def _begin(self, due: _Due, place: _Place, facts: PullFacts, decision: ReviewDecision) -> None:
        is_asked = facts.refusal is not None and facts.refusal in decision.feedback
        wanted = Round(
            root_run_id=due.run_id,
            number=due.rounds + 1,
            pull=facts.pull,
            feedback=decision.feedback,
            refused=due.round_run_id if is_asked else None,
        )
        run_id = await self._rounds.begin(wanted, place.member, place.rules, place.forge)
        values: dict[str, Any] = {
            "state": decision.state,
            "reason": decision.reason,
            "rounds": wanted.number,
            "round_run_id": run_id,
            "asked": [each.key for each in decision.feedback],
            "look_at": func.now() + timedelta(minutes=place.rules.poll_minutes),
        }
        # Said first: after a crash in between, the same round is found and said again.
        await self._tell(due, place, decision, run_id)
        await self._record(due, values | _seen(facts))

    async def _tell(
        self, due: _Due, place: _Place, decision: ReviewDecision, run_id: UUID | None = None
    ) -> None:
        """Say on the pull request what happens: one comment, whose text is replaced."""
        if decision.state not in _TOLD or (decision.state == due.state and run_id is None):
            return
        marker = f"{OWN}review:{due.run_id} -->"
        lines = [marker, f"**PhaseRunner**: {cell(decision.reason)}"]
        if run_id is not None:
            link = self._members.file.page
            shown = f"run {str(run_id)[:8]}"
            named = f"[{shown}]({link.rstrip('/')}/sprints/{run_id})" if link else shown
            lines += ["", f"{len(decision.feedback)} things to answer, in {named}."]
        repository = place.member.repository
        comment = await self._forges[repository.forge].put_comment(
            repository.name, place.number, marker, "\n".join(lines), due.comment_id, on_pull=True
        )
        async with self._sessions.begin() as session:
            await session.execute(_of(due).values(comment_id=comment))

    async def _rest(self, due: _Due, place: _Place, values: dict[str, Any], *, ended: bool = False) -> None:
        """Record what was seen, and sleep until something happens or it is time to look again."""
        at = None if ended else func.now() + timedelta(minutes=place.rules.poll_minutes)
        await self._record(due, {**values, "look_at": at})

    async def _postpone(self, due: _Due, why: str, retry_at: datetime | None) -> None:
        pause = timedelta(seconds=pause_after(min(due.tries, _MAX_PAUSES)))
        at = retry_at or datetime.now(UTC) + pause
        logger.warning("the review of run %s failed, next try at %s: %s", due.run_id, at, why)
        async with self._sessions.begin() as session:
            await session.execute(_of(due).values(look_at=at, last_error=why))

    async def _record(self, due: _Due, values: dict[str, Any]) -> None:
        at = values.pop("look_at")
        async with self._sessions.begin() as session:
            await session.execute(_of(due).values({**values, "last_error": ""}))
        # What stirred the review meanwhile has set `tries` to 0, and when it is looked at.
        await self._leases.record(due.run_id, due.tries, {"look_at": at, "tries": 0})


def _of(due: _Due) -> Any:
    return update(ForgeReview).where(ForgeReview.run_id == due.run_id)


def _seen(facts: PullFacts) -> dict[str, Any]:
    return {"head": facts.pull.head, "target": facts.pull.target}
