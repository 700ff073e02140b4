"""A run's place on a forge."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

ForgeOutcome = Literal["merged", "closed"]
EndedAs = Literal["merged_unchanged", "merged_edited", "closed", "reverted"]
"""What an ended pull request says about the work. A merge must be compared before it is one of these."""

ReviewState = Literal["watching", "working", "approved", "spent", "stopped", "ended"]


class ForgeOrigin(BaseModel):
    """The repository of a run on a forge, and what started the run.

    Attributes:
        forge: name of the forge in the operator's file.
        repository: `owner/name`.
        issue: number of the issue that became the goal.
        trigger: what started the run; a second run with the same trigger is refused.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    forge: str
    repository: str
    issue: int | None = None
    trigger: str | None = None


class RoundOrigin(ForgeOrigin):
    """The pull request that a round works on, or will open.

    Attributes:
        root_run_id: the run whose result was offered or refused.
        branch: name of the pull request's branch; None before there is one.
        pull_number: its number.
        pull_url: its page.
        parents: commits on top of which the round's result is pushed.
    """

    root_run_id: UUID
    branch: str | None = None
    pull_number: int | None = None
    pull_url: str | None = None
    parents: list[str] = []


PushStatus = Literal["passed", "failed", "errored", "asks", "conflicts"]


class PushView(BaseModel):
    """What the gates say about a head of a pull request that other people pushed.

    Attributes:
        commit: the head.
        status: `asks`: only a question to a person is open; `conflicts`: nothing was judged.
        reason: the reason, and what the failed gates found.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    commit: str
    status: PushStatus
    reason: str
    judged_at: datetime


class ReviewView(BaseModel):
    """The state of a pull request's review.

    Attributes:
        reason: what it waits for, in one line.
        rounds: number of rounds that have started.
        round_run_id: the newest round.
        problem: why the forge could not be queried; empty if there is no problem.
        push: the newest verdict on what other people pushed; None before the first one.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    state: ReviewState
    reason: str
    rounds: int
    round_run_id: UUID | None
    problem: str = ""
    push: PushView | None = None


class ForgeView(BaseModel):
    """The state of a run on its forge.

    Attributes:
        root_run_id: for a round, the run whose pull request it works on.
        problem: why the last report did not reach the forge; empty if there is no problem.
        review: what reviewers and checks say, and the rounds that answer them; None if it is not followed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    forge: str
    repository: str
    issue: int | None
    branch: str | None
    pull_number: int | None
    pull_url: str | None
    outcome: ForgeOutcome | None = Field(description="What became of the pull request.")
    outcome_by: str | None
    outcome_at: datetime | None
    ended_as: EndedAs | None = Field(
        default=None, description="What this says about the work; null until a merge is compared."
    )
    edited_share: float | None = Field(
        default=None, description="The share of changed lines that differ between delivery and merge."
    )
    reverted_commit: str | None = Field(
        default=None, description="The commit that reverted the merge within 30 days."
    )
    reverted_at: datetime | None = None
    root_run_id: UUID | None = None
    problem: str = ""
    review: ReviewView | None = None
