"""Does what deliveries of forges ask for: starts, retries and stops runs, and records outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import InvalidInputError, PhaseRunnerError, UnavailableError
from app.db.engine import Sessions
from app.db.models import Escalation, ForgeReport, Run
from app.forges.command_options import read_run_command
from app.forges.deliveries import OWN, Ended, Nothing, RequestMade, ReviewStirred
from app.forges.descriptions import cell
from app.forges.goals import said_in
from app.forges.port import ForgesByName
from app.forges.repositories import Member, Members
from app.schemas.api.escalations import EscalationResolve
from app.schemas.api.forges import IssueSprintCreate
from app.schemas.runs import EscalationDecision, RunStatus
from app.services.control.cancelling import CancelService
from app.services.forges.asks import read_wish
from app.services.forges.issues import IssueService
from app.services.forges.merges import stir_merges
from app.services.forges.newest import newest_run
from app.services.forges.outcomes import note_delivered
from app.services.forges.signs import stir
from app.services.review.escalations import EscalationService

MAX_AGE = timedelta(days=3)
"""The greatest age of a wish that is still carried out; GitHub repeats deliveries for this long."""

_REFUSED = f"{OWN}refused -->"
"""By this the one comment is found that says why something was not done."""

_FINAL = [each.value for each in RunStatus if each.is_final]


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """What became of a delivery. `tell`: a comment says why nothing was done."""

    acted: bool
    text: str
    tell: bool = False


class WishService:
    """Does what deliveries ask for.

    Args:
        sessions: opens short transactions.
        members: the repositories that take part.
        forges: adapters by name.
        issues: starts runs.
        escalations: retries runs.
        cancels: stops runs.
    """

    def __init__(
        self,
        sessions: Sessions,
        members: Members,
        forges: ForgesByName,
        issues: IssueService,
        escalations: EscalationService,
        cancels: CancelService,
    ) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._issues = issues
        self._escalations = escalations
        self._cancels = cancels

    async def fulfil(
        self, forge: str, event: str, payload: Mapping[str, Any], trigger: str, *, received_at: datetime
    ) -> Fulfilled:
        """Do what a delivery asks for; repeating this with the same trigger has no further effect.

        Args:
            forge: name of the forge.
            event: the delivery's kind.
            payload: the delivery's body.
            trigger: identifies the delivery.
            received_at: when it was recorded. A command to retry answers no question that is newer.

        Raises:
            ForgeError, UnavailableError: the forge is unavailable; another try may succeed.
        """
        wish = read_wish(self._members.file, forge, event, payload)
        if isinstance(wish, Nothing):
            return Fulfilled(acted=False, text=wish.reason)
        member = self._members.named(forge, wish.repository)
        if member is None:
            return Fulfilled(acted=False, text=f"{wish.repository} is not in FORGES_FILE")
        if isinstance(wish, ReviewStirred):
            return await self._stir(member, wish)
        if isinstance(wish, Ended):
            return await self._end(member, wish)
        done = await self._refusal(member, wish) or await self._try(member, wish, trigger, received_at)
        if done.tell:
            await self._explain(member, wish, done.text)
        return done

    async def _refusal(self, member: Member, wish: RequestMade) -> Fulfilled | None:
        """Say why nothing is to be done; None if there is no reason."""
        rules = member.repository.rules
        if wish.what == "label" and not {wish.text, *wish.more_labels} & set(rules.labels):
            return Fulfilled(acted=False, text=f"the label {wish.text!r} starts nothing")
        if wish.what != "label" and not rules.commands:
            return Fulfilled(acted=False, text="commands are off for this repository")
        if datetime.now(UTC) - wish.at > MAX_AGE:
            old = f"it was asked at {wish.at:%Y-%m-%d %H:%M} UTC, which is too long ago"
            return Fulfilled(acted=False, text=old)
        if not await self._forges[member.repository.forge].may_write(member.repository.name, wish.user):
            why = f"{wish.user} may not write to {member.repository.name}; a person who may has to ask"
            return Fulfilled(acted=False, text=why, tell=True)
        if wish.what == "run" and wish.is_pull:
            why = "a run starts from an issue, not from a pull request; write the command on an issue"
            return Fulfilled(acted=False, text=why, tell=True)
        return None

    async def _try(self, member: Member, wish: RequestMade, trigger: str, received_at: datetime) -> Fulfilled:
        try:
            return await self._act(member, wish, trigger, received_at)
        except UnavailableError:
            raise
        except PhaseRunnerError as error:
            return Fulfilled(acted=False, text=error.detail, tell=True)

    async def _act(self, member: Member, wish: RequestMade, trigger: str, received_at: datetime) -> Fulfilled:
        actor = f"{member.repository.forge}:{wish.user}"
        match wish.what:
            case "retry":
                return await self._retry(member, wish, actor, received_at)
            case "stop":
                return await self._stop(member, wish, actor)
            case _:
                return await self._start(member, wish, actor, trigger)

    async def _start(self, member: Member, wish: RequestMade, actor: str, trigger: str) -> Fulfilled:
        async with self._sessions() as session:
            if await session.scalar(select(ForgeReport.run_id).where(ForgeReport.trigger == trigger)):
                return Fulfilled(acted=True, text="the run was started before a crash")
            busy = await _unfinished(session, member, wish)
        if busy is not None:
            why = f"the run {busy.id} works on this issue already; /phaserunner stop stops it"
            # After a label, the comment of the run says so already.
            return Fulfilled(acted=False, text=why, tell=wish.what == "run")
        rules = member.repository.rules
        command = read_run_command(wish.text if wish.what == "run" else "")
        try:
            request = IssueSprintCreate(
                issue=f"{member.forge.web.rstrip('/')}/{member.repository.name}/issues/{wish.number}",
                agent=rules.agent,
                phases=rules.phases,
                policy=rules.policy,
                held_out=command.held_out,
            )
        except ValidationError as error:
            # The repository's phases do not fit the command.
            told = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise InvalidInputError(told, field="held_out") from error
        guidance = [f"{wish.user} asks:\n\n{said_in(command.text)}"] if command.text else []
        try:
            run = await self._issues.start(request, actor, trigger=trigger, guidance=guidance)
        except IntegrityError:
            return Fulfilled(acted=True, text="another worker started the run")
        return Fulfilled(acted=True, text=f"started the run {run.id}")

    async def _retry(self, member: Member, wish: RequestMade, actor: str, received_at: datetime) -> Fulfilled:
        async with self._sessions() as session:
            run = await _unfinished(session, member, wish)
            asked = run and await session.scalar(
                select(Escalation).where(Escalation.run_id == run.id, Escalation.status == "open")
            )
        if run is None and wish.is_pull and member.repository.review is not None:
            # The comment itself is read with the pull request.
            return await self._stir(member, ReviewStirred(wish.repository, number=wish.number))
        if run is None or asked is None:
            why = "no run waits for an answer here; /phaserunner run on an issue starts one"
            return Fulfilled(acted=False, text=why, tell=True)
        if asked.created_at > received_at:
            # The command came late, or its effect was not recorded before a crash.
            return Fulfilled(acted=False, text=f"the run {run.id} asks something newer than the command")
        resolution = EscalationResolve(decision=EscalationDecision.RETRY, guidance=said_in(wish.text))
        await self._escalations.resolve(asked.id, resolution, actor)
        return Fulfilled(acted=True, text=f"the run {run.id} tries again")

    async def _stop(self, member: Member, wish: RequestMade, actor: str) -> Fulfilled:
        async with self._sessions() as session:
            run = await _unfinished(session, member, wish)
        if run is None:
            return Fulfilled(acted=False, text="no run works on this", tell=True)
        await self._cancels.cancel(run.id, wish.text or f"stopped by {actor}", actor)
        return Fulfilled(acted=True, text=f"stopped the run {run.id}")

    async def _stir(self, member: Member, wish: ReviewStirred) -> Fulfilled:
        merges = await stir_merges(self._sessions, member, wish) if wish.reverts else 0
        if merges:
            return Fulfilled(acted=True, text=f"{merges} merged results may be reverted; they are looked at")
        rules = member.repository.review
        if rules is None:
            return Fulfilled(acted=False, text="pull requests of this repository are not followed")
        found = await stir(self._sessions, member, rules, wish)
        if not found:
            return Fulfilled(acted=False, text="no review depends on it")
        return Fulfilled(acted=True, text=f"{found} review{'' if found == 1 else 's'} will be looked at")

    async def _end(self, member: Member, wish: Ended) -> Fulfilled:
        async with self._sessions.begin() as session:
            runs = await note_delivered(session, member, wish)
        if not runs:
            return Fulfilled(
                acted=False, text="the pull request is not of a run, or something newer is known"
            )
        await self._stir(member, ReviewStirred(wish.repository, number=wish.number))
        return Fulfilled(acted=True, text=f"the pull request of {runs[0]} is {wish.outcome or 'open again'}")

    async def _explain(self, member: Member, wish: RequestMade, why: str) -> None:
        """Say on the issue or pull request why nothing was done: one comment, whose text is replaced."""
        asked = f"the label {wish.text}" if wish.what == "label" else f"the command {wish.what}"
        by = cell(f"{asked}, from {wish.user} at {wish.at:%Y-%m-%d %H:%M} UTC")
        body = f"{_REFUSED}\n**PhaseRunner** did not do this: {cell(why)}\n\nThis answers {by}."
        forge = self._forges[member.repository.forge]
        await forge.put_comment(
            member.repository.name, wish.number, _REFUSED, body, None, on_pull=wish.is_pull
        )


async def _unfinished(session: AsyncSession, member: Member, wish: RequestMade) -> Run | None:
    """Find the newest unfinished run of an issue or pull request."""
    row = ForgeReport
    found = await newest_run(
        session,
        row.forge == member.repository.forge,
        row.repository == member.repository.name,
        # On GitLab, an issue and a merge request may have the same number.
        (row.pull_number if wish.is_pull else row.issue) == wish.number,
        Run.status.not_in(_FINAL),
    )
    return None if found is None else found.run
