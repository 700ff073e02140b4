"""Decides what a pull request needs: its feedback starts a round, or there is a reason to wait.

This module queries neither a forge nor the database. All that a decision depends on is in
`PullFacts` and `EarlierRounds`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from app.forges.goals import fenced, said_in
from app.forges.port import PullRequest
from app.schemas.forges import PushStatus

_MAX_ITEM_CHARS = 6_000


class ReviewState(StrEnum):
    """The state of a pull request's review.

    Attributes:
        WATCHING: there is nothing to do until people or checks give feedback.
        WORKING: a round answers feedback.
        APPROVED: a person approved; no further round starts.
        SPENT: there is feedback, but all rounds are used.
        STOPPED: the last round could not be pushed; new feedback starts another.
        ENDED: the pull request was merged or closed.
    """

    WATCHING = "watching"
    WORKING = "working"
    APPROVED = "approved"
    SPENT = "spent"
    STOPPED = "stopped"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedPull:
    """A pull request, and what decides whether it can be merged.

    Attributes:
        pull: the pull request itself.
        head: commit of its branch.
        branch: name of its branch.
        target: name of the branch that it is to be merged into.
        target_head: commit of that branch.
        mergeable: whether it merges without conflict; None while the forge computes it.
    """

    pull: PullRequest
    head: str
    branch: str
    target: str
    target_head: str
    mergeable: bool | None


@dataclass(frozen=True, slots=True)
class Review:
    """A person's review."""

    id: int
    user: str
    state: Literal["approved", "changes_requested", "commented", "dismissed", "pending"]
    body: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RemarkAtLine:
    """A person's comment at a line of the pull request. `line` is None if the line no longer exists."""

    id: int
    user: str
    path: str
    line: int | None
    body: str


@dataclass(frozen=True, slots=True)
class Request:
    """A person's command on the pull request, `/phaserunner retry TEXT`."""

    id: int
    user: str
    text: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check on the head. `excerpt` is its failing part."""

    name: str
    state: Literal["pending", "passed", "failed"]
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class PushVerdict:
    """What the gates say about a head that other people pushed, merged with the target.

    Attributes:
        commit: the head.
        status: `asks`: only a question to a person is open; `conflicts`: nothing was judged.
        reason: the reason, and what the failed gates found.
    """

    commit: str
    status: PushStatus
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PullFacts:
    """All that is known of a pull request at one moment.

    Attributes:
        pull: the pull request.
        reviews: in the order in which they were written.
        remarks: comments at lines.
        requests: commands in comments.
        checks: checks of the head, without the service's own.
        failing_at_target: names of checks that also fail on the target branch.
        writers: people whose reviews and comments count.
        refusal: why the newest round's result cannot be merged and was not pushed.
        push: the verdict on the head; None if the service pushed it.
        push_asks: whether a head that failed the gates starts a round by itself.
    """

    pull: ReviewedPull
    reviews: Sequence[Review] = ()
    remarks: Sequence[RemarkAtLine] = ()
    requests: Sequence[Request] = ()
    checks: Sequence[CheckReport] = ()
    failing_at_target: frozenset[str] = frozenset()
    writers: frozenset[str] = frozenset()
    refusal: "Feedback | None" = None
    push: PushVerdict | None = None
    push_asks: bool = False


@dataclass(frozen=True, slots=True)
class EarlierRounds:
    """What earlier rounds have answered.

    Attributes:
        keys: feedback that a round received.
        rounds: how many rounds have started.
        limit: how many rounds may start.
    """

    keys: frozenset[str]
    rounds: int
    limit: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """One piece of feedback for a round. `key` is the same each time that the same feedback is read."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What happens now. With feedback, a round starts; `reason` explains it to people."""

    state: ReviewState
    reason: str
    feedback: tuple[Feedback, ...] = ()


class ReviewForge(Protocol):
    """What reviews need from a forge. Every method may raise `ForgeError`."""

    async def facts(self, repository: str, number: int) -> PullFacts:
        """Read all facts that decisions about a pull request depend on."""
        ...

    async def pull(self, repository: str, number: int) -> ReviewedPull:
        """Read only the pull request."""
        ...

    async def merge_base(self, repository: str, target: str, head: str) -> str:
        """Return the newest common ancestor of two commits."""
        ...


def decide_review(facts: PullFacts, answered: EarlierRounds) -> ReviewDecision:
    """Decide what a pull request needs now.

    A merge, a closed pull request and an approval end the rounds, in this order of precedence. Otherwise the
    review waits for running checks, so that one round answers everything that is wrong with a head. Feedback
    that a round has received starts no second one. A round also receives what the gates say about other
    people's work, but that starts a round only if the operator wants it.
    """
    pull = facts.pull.pull
    if pull.state == "closed":
        return ReviewDecision(ReviewState.ENDED, "merged" if pull.merged else "closed")
    if approver := _approver(facts):
        return ReviewDecision(ReviewState.APPROVED, f"approved by {approver}")
    if pull.draft:
        return ReviewDecision(ReviewState.WATCHING, "the pull request is a draft")
    if pending := [each.name for each in facts.checks if each.state == "pending"]:
        return ReviewDecision(ReviewState.WATCHING, f"checks are running: {_names(pending)}")
    found = tuple(each for each in feedback_of(facts) if each.key not in answered.keys)
    if found or facts.push_asks:
        found += tuple(each for each in _failed_push(facts) if each.key not in answered.keys)
    if not found:
        return ReviewDecision(ReviewState.WATCHING, _waits_for(facts))
    if answered.rounds >= answered.limit:
        return ReviewDecision(
            ReviewState.SPENT, f"all {answered.limit} rounds are used; a person has to go on"
        )
    return ReviewDecision(ReviewState.WORKING, f"round {answered.rounds + 1} of {answered.limit}", found)


def feedback_of(facts: PullFacts) -> list[Feedback]:
    """List the feedback of the merge queue, the target, checks and people on a pull request."""
    refusals = [facts.refusal] if facts.refusal else []
    return [*refusals, *_conflict(facts.pull), *_failures(facts), *_words(facts)]


def _conflict(pull: ReviewedPull) -> Iterator[Feedback]:
    if pull.mergeable is False:
        text = (
            f"The branch conflicts with {pull.target}. Git has merged what it could. Files with conflicts "
            "hold its marks (<<<<<<<, =======, >>>>>>>): keep what both sides want, and remove the marks."
        )
        yield Feedback(f"conflict:{pull.head}:{pull.target_head}", text)


def _failures(facts: PullFacts) -> Iterator[Feedback]:
    for check in facts.checks:
        if check.state == "failed" and check.name not in facts.failing_at_target:
            said = f"The check {check.name!r} failed on the pull request."
            excerpt = f" Its output:\n\n{fenced(_cut(check.excerpt))}" if check.excerpt.strip() else ""
            yield Feedback(f"check:{facts.pull.head}:{check.name}", said + excerpt)


def _failed_push(facts: PullFacts) -> Iterator[Feedback]:
    push = facts.push
    if push is not None and push.status == "failed":
        said = (
            f"The gates failed commit {push.commit[:12]}, which people pushed to the branch. Keep what they "
        )
        said += f"want. What the gates found:\n\n{fenced(_cut(push.reason))}"
        yield Feedback(f"push:{push.commit}", said)


def _words(facts: PullFacts) -> Iterator[Feedback]:
    """Yield what people with write access said in reviews, at lines and in commands."""
    for review in facts.reviews:
        if review.state in ("changes_requested", "commented"):
            yield from _said(facts, f"review:{review.id}", review.user, "wrote in a review", review.body)
    for remark in facts.remarks:
        place = remark.path if remark.line is None else f"{remark.path}:{remark.line}"
        yield from _said(facts, f"remark:{remark.id}", remark.user, f"wrote at {place}", remark.body)
    for request in facts.requests:
        yield from _said(facts, f"request:{request.id}", request.user, "asks", request.text)


def _said(facts: PullFacts, key: str, user: str, how: str, text: str) -> Iterator[Feedback]:
    if user in facts.writers and text.strip():
        yield Feedback(key, f"{user} {how}:\n\n{_cut(said_in(text))}")


def _approver(facts: PullFacts) -> str:
    """Return who approved, unless someone's latest review requests changes."""
    last: dict[str, Review] = {}
    for review in facts.reviews:
        if review.user in facts.writers and review.state not in ("commented", "pending"):
            last[review.user] = review
    if any(each.state == "changes_requested" for each in last.values()):
        return ""
    return next((each.user for each in last.values() if each.state == "approved"), "")


def _waits_for(facts: PullFacts) -> str:
    known = [each.name for each in facts.checks if each.state == "failed"]
    failed = [each for each in known if each in facts.failing_at_target]
    if failed:
        return f"waits for a review; these checks fail on {facts.pull.target} as well: {_names(failed)}"
    return "waits for a review"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_ITEM_CHARS else f"{text[:_MAX_ITEM_CHARS]}\n[cut here]"
