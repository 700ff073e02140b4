"""Follows pull requests until they are merged: looks at those that are due, and starts rounds.

A review waits as a row. Deliveries, a round's report and the passing of time make it due. Each look reads the
pull request afresh, so deliveries that are lost, repeated or out of order only change when a look happens.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import and_, func, literal, or_, update

from app.core.errors import PhaseRunnerError
from app.db.engine import Sessions
from app.db.models import ForgeReport, ForgeReview, Run
from app.forges.operator_file import ReviewRules
from app.forges.port import ForgeError, ForgesByName
from app.forges.repositories import Member, Members, not_followed, not_in_file
from app.forges.reviews import (
    EarlierRounds,
    PullFacts,
    ReviewDecision,
    ReviewedPull,
    ReviewForge,
    ReviewState,
    decide_review,
)
from app.schemas.runs import RunStatus
from app.services.chores.webhooks import pause_after
from app.services.forges.outcomes import note_outcome
from app.services.forges.pushes import PushService
from app.services.forges.returns import find_refusal
from app.services.forges.review_comments import TOLD, DueReview, comment_on
from app.services.forges.rounds import Round, RoundService
from app.services.record.leases import Leases

logger = logging.getLogger(__name__)

_LEASE = timedelta(minutes=45)
"""A look may wait for gates, which judge what people pushed."""

_MAX_PAUSES = 6
"""The number of failures after which pauses stop growing."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The pull request of a review: its number, forge, repository and rules."""

    member: Member
    rules: ReviewRules
    forge: ReviewForge
    number: int


@dataclass(frozen=True, slots=True)
class _EndedRound:
    """How a round ended. `commits` are the heads that the branch can have if only the service pushed."""

    run_id: UUID
    status: RunStatus
    problem: str
    commits: frozenset[str]


class ReviewChore:
    """Looks at the reviews that are due; any number of workers can do so.

    Args:
        sessions: opens short transactions; none is open during a request to a forge.
        members: the repositories that take part.
        forges: adapters by name, for comments.
        reviews: adapters that read reviews, by name of the forge.
        rounds: starts rounds.
        pushes: judges what other people push.
    """

    def __init__(
        self,
        sessions: Sessions,
        members: Members,
        forges: ForgesByName,
        reviews: Mapping[str, ReviewForge],
        rounds: RoundService,
        pushes: PushService,
    ) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._reviews = reviews
        self._rounds = rounds
        self._pushes = pushes
        self._leases = Leases(
            sessions=sessions,
            table=ForgeReview,
            due_at="look_at",
            make=DueReview,
            batch=1,  # the next one must not wait for gates
            lease=_LEASE,
        )

    async def __call__(self) -> int:
        """Look at the reviews that are due, and return how many were tried."""
        return await self._leases.work(self._attempt, self._postpone)

    async def _attempt(self, due: DueReview) -> None:
        place = await self._place(due.run_id)
        if isinstance(place, str):
            await self._sleep(due, place)
            return
        try:
            await self._look(due, place)
        except ForgeError as error:
            await self._postpone(due, str(error), error.retry_at)
        except PhaseRunnerError as error:
            await self._postpone(due, error.detail)

    async def _place(self, run_id: UUID) -> _Place | str:
        """Find the pull request of a review; without one, return why it cannot be followed."""
        async with self._sessions() as session:
            report = await session.get_one(ForgeReport, run_id)
        member = self._members.named(report.forge, report.repository)
        if member is None:
            return not_in_file(report.repository)
        rules, forge = member.repository.review, self._reviews.get(report.forge)
        if rules is None or forge is None:
            return not_followed(report.repository)
        if report.pull_number is None:
            return "the run has no pull request"
        return _Place(member, rules, forge, report.pull_number)

    async def _look(self, due: DueReview, place: _Place) -> None:
        ended: _EndedRound | None = None
        if due.state == ReviewState.WORKING and due.round_run_id is not None:
            ended = await self._ended_round(due.round_run_id)
            if ended is None:
                pull = await place.forge.pull(place.member.repository.name, place.number)
                await self._rest(await self._judge_push(due, place, pull), place, pull, {})
                return
        facts = await place.forge.facts(place.member.repository.name, place.number)
        if ended is not None:
            due = await self._close_round(due, place, ended, facts)
        due = await self._judge_push(due, place, facts.pull)
        facts = replace(
            facts,
            refusal=await find_refusal(self._sessions, due.round_run_id) if due.round_run_id else None,
            push=due.push_at(facts.pull.head),
            push_asks=place.rules.pushes == "round",
        )
        answered = EarlierRounds(frozenset(due.answered), due.rounds, place.rules.rounds)
        decision = decide_review(facts, answered)
        if decision.feedback:
            await self._begin(due, place, facts, decision)
            return
        stays = decision.state is ReviewState.WATCHING and due.state == ReviewState.STOPPED
        values: dict[str, Any] = {} if stays else {"state": decision.state, "reason": decision.reason}
        if decision.state in TOLD and decision.state != due.state:
            told = replace(due, state=decision.state, reason=decision.reason)
            await self._tell(told, place, facts.pull.head)
        await self._rest(due, place, facts.pull, values | _seen(facts))
        if facts.pull.pull.state == "closed":
            async with self._sessions.begin() as session:
                await note_outcome(session, due.run_id, facts.pull.pull)

    async def _judge_push(self, due: DueReview, place: _Place, pull: ReviewedPull) -> DueReview:
        """Judge the head if other people pushed it, until there is a verdict; give what is known then."""
        known = pull.pull.state == "closed" or not due.is_to_judge(pull.head)
        if known or await self._pushes.is_own(due.run_id, pull.head):
            return due
        repository, page = place.member.repository, self._members.file.page
        link = f"{page.rstrip('/')}/sprints/{due.run_id}" if page else None
        judged = await self._pushes.judge(due.run_id, place.member, place.forge, pull, link)
        if judged is None:
            return due
        await self._forges[repository.forge].set_status(repository.name, pull.head, judged.status)
        values: dict[str, Any] = {
            "judged_commit": pull.head,
            "judged_status": judged.verdict.status,
            "judged_reason": judged.verdict.reason,
            "judged_tries": 1 + (due.judged_tries if pull.head == due.judged_commit else 0),
            "judged_at": datetime.now(UTC),
        }
        due = replace(due, **values)
        due = await self._tell(due, place, pull.head)
        await self._write(due, values)
        return due

    async def _ended_round(self, run_id: UUID) -> _EndedRound | None:
        """Read how a round ended; None while it works or while its result is on its way to the forge."""
        async with self._sessions() as session:
            status = RunStatus((await session.get_one(Run, run_id)).status)
            report = await session.get_one(ForgeReport, run_id)
        if not status.is_final or report.reported < report.wanted:
            return None
        commits = frozenset([*report.parents[:1], *report.pushed])
        return _EndedRound(run_id, status, report.last_error, commits)

    async def _close_round(
        self, due: DueReview, place: _Place, ended: _EndedRound, facts: PullFacts
    ) -> DueReview:
        if facts.pull.head not in ended.commits:
            # People pushed while the round worked. Their commits stay, and the next round starts with them.
            return await self._change(due, ReviewState.WATCHING, "other commits were pushed", due.answered)
        answered = [*due.answered, *due.asked]
        if ended.status is RunStatus.COMPLETED and not ended.problem:
            return await self._change(due, ReviewState.WATCHING, "the round was pushed", answered)
        if await find_refusal(self._sessions, ended.run_id):
            # The next round must answer what this one was asked.
            return await self._change(due, ReviewState.WATCHING, "the round was refused", due.answered)
        why = ended.problem or f"its sprint is {ended.status.value}"
        reason = f"round {due.rounds} pushed nothing: {why}"
        told = replace(due, state=ReviewState.STOPPED, reason=reason)
        due = await self._tell(told, place, facts.pull.head)
        return await self._change(due, ReviewState.STOPPED, reason, answered)

    async def _change(
        self, due: DueReview, state: ReviewState, reason: str, answered: list[str]
    ) -> DueReview:
        values = {"state": state, "reason": reason, "answered": answered, "asked": []}
        await self._write(due, values)
        return replace(due, state=state, reason=reason, answered=answered, asked=[])

    async def _begin(self, due: DueReview, place: _Place, facts: PullFacts, decision: ReviewDecision) -> None:
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
        }
        # Said first: after a crash in between, the same round is found and said again.
        await self._tell(replace(due, **values), place, facts.pull.head)
        await self._rest(due, place, facts.pull, values | _seen(facts))

    async def _tell(self, due: DueReview, place: _Place, head: str) -> DueReview:
        """Say on the pull request how its review stands: one comment, whose text is replaced."""
        repository = place.member.repository
        body = comment_on(due, head, self._members.file.page)
        comment = await self._forges[repository.forge].put_comment(
            repository.name, place.number, due.marker, body, due.comment_id, on_pull=True
        )
        await self._write(due, {"comment_id": comment})
        return replace(due, comment_id=comment)

    async def _rest(self, due: DueReview, place: _Place, pull: ReviewedPull, values: dict[str, Any]) -> None:
        """Record what was seen, and sleep until something happens or it is time to look again."""
        again = datetime.now(UTC) + timedelta(minutes=place.rules.poll_minutes)
        at = min(again, due.judges_again_at(pull.head) or again)
        await self._record(due, {**values, "look_at": None if pull.pull.state == "closed" else at})

    async def _sleep(self, due: DueReview, why: str) -> None:
        """Wait until the operator's file says something else; `membership` wakes the review then."""
        logger.warning("the review of run %s sleeps: %s", due.run_id, why)
        await self._leases.record(due.run_id, due.tries, {"look_at": None, "last_error": why})

    async def _postpone(self, due: DueReview, why: str, retry_at: datetime | None = None) -> None:
        pause = timedelta(seconds=pause_after(min(due.tries, _MAX_PAUSES)))
        at = retry_at or datetime.now(UTC) + pause
        logger.warning("the review of run %s failed, retrying at %s: %s", due.run_id, at, why)
        await self._leases.record(due.run_id, due.tries, {"look_at": at, "last_error": why})

    async def _record(self, due: DueReview, values: dict[str, Any]) -> None:
        at = values.pop("look_at")
        await self._write(due, {**values, "last_error": ""})
        # An event in the meantime has set `tries` to 0 and the time of the next look, which then stays.
        await self._leases.record(due.run_id, due.tries, {"look_at": at, "tries": 0})

    async def _write(self, due: DueReview, values: dict[str, Any]) -> None:
        """Record values, unless the review was taken again, also if an event has reset its tries."""
        row = ForgeReview
        # The next worker has a later lease. An event may set a later time, too, but counts no try.
        stirred = and_(row.tries == 0, literal(due.look_at, row.look_at.type) > func.now())
        mine = (row.run_id == due.run_id, or_(row.look_at <= due.look_at, stirred))
        async with self._sessions.begin() as session:
            await session.execute(update(row).where(*mine).values(values))


def _seen(facts: PullFacts) -> dict[str, Any]:
    return {"head": facts.pull.head, "target": facts.pull.target}
