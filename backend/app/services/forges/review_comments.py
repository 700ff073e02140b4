"""Words the one comment on a pull request that tells of its review."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.forges.deliveries import OWN
from app.forges.descriptions import cell
from app.forges.reviews import PushVerdict, ReviewState
from app.schemas.forges import PushStatus
from app.services.chores.webhooks import pause_after

TOLD = (ReviewState.WORKING, ReviewState.SPENT, ReviewState.STOPPED)
"""States that the comment tells of."""

MAX_JUDGED = 5
"""How often a head is judged that the gates reach no verdict on, with growing pauses: about seven minutes."""

_SAID: Mapping[PushStatus, str] = {
    "passed": "the gates passed it",
    "failed": "the gates have not passed it",
    "asks": "the gates ask a question; a person has to decide",
    "conflicts": "it was not judged",
}


@dataclass(frozen=True, slots=True)
class DueReview:
    """A review as it was taken, or as it is to be recorded. `look_at` is the end of the lease."""

    run_id: UUID
    state: str
    reason: str
    rounds: int
    round_run_id: UUID | None
    asked: list[str]
    answered: list[str]
    look_at: datetime
    tries: int
    comment_id: int | None
    judged_commit: str | None
    judged_status: PushStatus | None
    judged_reason: str
    judged_at: datetime | None
    judged_tries: int

    @property
    def marker(self) -> str:
        """Return the text by which the comment is found."""
        return f"{OWN}review:{self.run_id} -->"

    def judges_again_at(self, head: str) -> datetime | None:
        """Return when the gates judge a head again that they have no verdict on; None if they do not."""
        is_open = self.judged_commit == head and self.judged_status == "errored"
        if not is_open or self.judged_at is None or self.judged_tries >= MAX_JUDGED:
            return None
        return self.judged_at + timedelta(seconds=pause_after(self.judged_tries))

    def is_to_judge(self, head: str) -> bool:
        """Tell whether a head that other people pushed is to be judged now."""
        at = self.judges_again_at(head)
        return head != self.judged_commit or (at is not None and at <= datetime.now(UTC))

    def push_at(self, head: str) -> PushVerdict | None:
        """Return the verdict on a head; None if it was not judged."""
        if self.judged_commit != head or self.judged_status is None:
            return None
        return PushVerdict(head, self.judged_status, self.judged_reason)


def _verdict_in(review: DueReview, push: PushVerdict) -> str:
    if push.status != "errored":
        return _SAID[push.status]
    tried = f"the gates reached no verdict (try {review.judged_tries} of {MAX_JUDGED})"
    goes_on = "they try again later" if review.judges_again_at(push.commit) else "a person has to decide"
    return f"{tried}; {goes_on}"


def comment_on(review: DueReview, head: str, page: str | None) -> str:
    """Return the text of the comment; it begins with its marker.

    Args:
        review: as it stands.
        head: of the pull request; what was said about earlier heads is left out.
        page: beginning of the addresses of this service's pages, for links.
    """
    parts = [cell(review.reason)] if review.state in TOLD else []
    if review.state == ReviewState.WORKING and review.round_run_id is not None:
        shown = f"run {str(review.round_run_id)[:8]}"
        named = f"[{shown}]({page.rstrip('/')}/sprints/{review.round_run_id})" if page else shown
        parts.append(f"{len(review.asked)} things to answer, in {named}.")
    if push := review.push_at(head):
        why = "" if push.status == "passed" else f": {cell(push.reason)}"
        parts.append(f"Commit {head[:12]}, which other people pushed: {_verdict_in(review, push)}{why}")
    first, *rest = parts or ["nothing to tell"]
    return "\n\n".join([f"{review.marker}\n**PhaseRunner**: {first}", *rest])
