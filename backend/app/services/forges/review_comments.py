"""Words the one comment on a pull request that tells of its review."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from app.forges.deliveries import OWN
from app.forges.descriptions import cell
from app.forges.reviews import PushVerdict, ReviewState
from app.schemas.forges import PushStatus

TOLD = (ReviewState.WORKING, ReviewState.SPENT, ReviewState.STOPPED)
"""States that the comment tells of."""

_SAID: Mapping[PushStatus, str] = {
    "passed": "the gates passed it",
    "failed": "the gates have not passed it",
    "errored": "the gates reached no verdict; a person has to decide",
    "asks": "the gates ask a question; a person has to decide",
    "conflicts": "it was not judged",
}


@dataclass(frozen=True, slots=True)
class DueReview:
    """A review as it was taken, or as it is to be recorded."""

    run_id: UUID
    state: str
    reason: str
    rounds: int
    round_run_id: UUID | None
    asked: list[str]
    answered: list[str]
    tries: int
    comment_id: int | None
    judged_commit: str | None
    judged_status: PushStatus | None
    judged_reason: str

    @property
    def marker(self) -> str:
        """Return the text by which the comment is found."""
        return f"{OWN}review:{self.run_id} -->"

    def push_at(self, head: str) -> PushVerdict | None:
        """Return the verdict on a head; None if it was not judged."""
        if self.judged_commit != head or self.judged_status is None:
            return None
        return PushVerdict(head, self.judged_status, self.judged_reason)


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
        parts.append(f"Commit {head[:12]}, which other people pushed: {_SAID[push.status]}{why}")
    first, *rest = parts or ["nothing to tell"]
    return "\n\n".join([f"{review.marker}\n**PhaseRunner**: {first}", *rest])
