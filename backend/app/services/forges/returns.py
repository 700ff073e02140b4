"""Returns results that cannot be merged to their agents, as rounds.

A result is refused if it breaks together with the target or with earlier results. Until it has a pull
request, its report returns it; after that, the review of the pull request does.
"""

from uuid import UUID

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert

from app.db.engine import Sessions
from app.db.models import ForgeReport, ForgeReview, ResultCheck
from app.forges.operator_file import ReviewRules
from app.forges.repositories import Member
from app.forges.reviews import Feedback, ReviewState
from app.schemas.api.result_checks import ResultCheckView
from app.schemas.runs import RunStatus
from app.services.forges.rounds import Round, RoundService


def refusal_of(run_id: UUID, check: ResultCheckView) -> Feedback:
    """Return feedback for an agent on why the result of a run was refused."""
    text = (
        f"The work so far cannot be merged: {check.problem}\n\nThe files hold that work merged with all that "
        "comes before it. Keep what comes before, and change the work so that both hold."
    )
    return Feedback(f"merge:{run_id}", text)


async def find_refusal(sessions: Sessions, run_id: UUID) -> Feedback | None:
    """Return why the result of a run was refused; None if it was not."""
    async with sessions() as session:
        report = await session.get(ForgeReport, run_id)
        row = await session.get(ResultCheck, run_id)
    if report is None or row is None or report.pushed:
        return None
    check = ResultCheckView.model_validate(row, from_attributes=True)
    return refusal_of(run_id, check) if check.problem and check.verdict != "errored" else None


class ReturnService:
    """Returns refused results that have no pull request.

    Args:
        sessions: opens short transactions.
        rounds: starts rounds.
    """

    def __init__(self, sessions: Sessions, rounds: RoundService) -> None:
        self._sessions = sessions
        self._rounds = rounds

    async def give_back(self, run_id: UUID, root_run_id: UUID, member: Member, check: ResultCheckView) -> str:
        """Start a round for a refused result, and return what happens, in words for people.

        A second call finds the same round.

        Raises:
            PhaseRunnerError: the round cannot start now.
        """
        rules = member.repository.review
        if rules is None:
            return "A person has to go on: only with `review` in FORGES_FILE does an agent get it back."
        async with self._sessions() as session:
            review = await session.get(ForgeReview, root_run_id)
        if review is not None and review.round_run_id not in (None, run_id):
            return review.reason  # the round was started before a crash
        number = 1 + (review.rounds if review else 0)
        if number > rules.rounds:
            reason = f"all {rules.rounds} rounds are used; a person has to go on"
            await self._note(root_run_id, state=ReviewState.SPENT, reason=reason)
            return f"{reason[0].upper()}{reason[1:]}."
        round_run_id = await self._begin(run_id, root_run_id, number, member, rules, check)
        reason = f"round {number} of {rules.rounds}: the result cannot be merged as it is"
        await self._note(
            root_run_id, state=ReviewState.WORKING, reason=reason, rounds=number, round_run_id=round_run_id
        )
        return f"It goes back to its agent: round {number} of {rules.rounds}, run {str(round_run_id)[:8]}."

    async def note_end(self, run_id: UUID, root_run_id: UUID, status: RunStatus) -> None:
        """Record that a round ended without a result, if it is the newest and there is no pull request."""
        row = ForgeReview
        values = {
            "state": ReviewState.STOPPED,
            "reason": f"the newest round offers nothing: its sprint is {status.value}; a person has to go on",
        }
        mine = update(row).where(
            row.run_id == root_run_id, row.round_run_id == run_id, row.state == ReviewState.WORKING
        )
        async with self._sessions.begin() as session:
            await session.execute(mine.values(values))

    async def _begin(
        self,
        run_id: UUID,
        root_run_id: UUID,
        number: int,
        member: Member,
        rules: ReviewRules,
        check: ResultCheckView,
    ) -> UUID:
        wanted = Round(
            root_run_id=root_run_id, number=number, feedback=[refusal_of(run_id, check)], refused=run_id
        )
        return await self._rounds.begin(wanted, member, rules)

    async def _note(self, root_run_id: UUID, **values: object) -> None:
        statement = insert(ForgeReview).values(run_id=root_run_id, **values)
        known = statement.on_conflict_do_update(index_elements=[ForgeReview.run_id], set_=values)
        async with self._sessions.begin() as session:
            await session.execute(known)
