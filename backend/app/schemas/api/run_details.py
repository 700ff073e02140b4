"""A complete run, and the fork that starts from one of its attempts."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.attempts import AttemptView
from app.schemas.api.escalations import MAX_GUIDANCE_CHARS, EscalationView
from app.schemas.api.policies import PolicyOverrides, PolicyView
from app.schemas.api.runs import Name, PhaseView, RunView
from app.schemas.baseline import BaselineSummary
from app.schemas.held_out import HeldOutAtBase, HiddenCases
from app.schemas.runs import EscalationDecision, Phase, RunStatus
from app.schemas.text import CleanText, clean_text


class HeldOutView(BaseModel):
    """The held-out tests of a run, without their texts; no files if a default share hides nothing."""

    model_config = ConfigDict(frozen=True)

    files: list[str]
    cases: HiddenCases | None = Field(
        description="How many of the base's own cases are hidden; null if the tests are not the base's."
    )
    at_base: HeldOutAtBase | None = Field(
        description="Their results on the base's own code; null until known."
    )
    note: str = Field(description="The same in a sentence, and what became of a default share.")


class ForkView(BaseModel):
    """A run that started from an attempt of another."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    name: str
    status: RunStatus
    phase: str = Field(description="Phase of the attempt that it started from.")
    attempt: int = Field(description="Number of that attempt.")


class RunDetail(RunView):
    """A run with its phases, attempts and escalations."""

    source: dict[str, Any]
    guidance: list[str] = Field(default=[], description="Part of the prompt of every attempt.")
    policy: PolicyView
    held_out: HeldOutView | None = Field(
        default=None,
        description="The tests that no agent sees; null if there are none and no default share applies.",
    )
    baseline: BaselineSummary | None = Field(
        default=None,
        description="Results of the base's tests before the first attempt; null until measured.",
    )
    base_commit: str
    head_commit: str
    phases: list[PhaseView]
    attempts: list[AttemptView]
    escalations: list[EscalationView]
    forks: list[ForkView] = Field(
        default=[], description="The newest runs that started from an attempt of this run."
    )

    @property
    def accepted_by(self) -> list[str]:
        """Return the reviewers who accepted output against the gates, each once."""
        accepted = [each for each in self.escalations if each.decision is EscalationDecision.ACCEPT]
        return list(dict.fromkeys(each.decided_by or "a person" for each in accepted))


class RunFork(BaseModel):
    """The attempt that a new sprint starts from, and what differs in the new sprint.

    The new sprint starts in the attempt's phase with its files. It keeps the base and the policy of the
    original, except for the fields given here.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"phase": "coding", "attempt": 2, "guidance": "Keep the parser; fix only the rounding."}
            ]
        },
    )

    phase: Phase
    attempt: int = Field(ge=1, le=2**31 - 1, description="Number of the attempt within its phase.")
    guidance: CleanText = Field(default="", max_length=MAX_GUIDANCE_CHARS)
    name: Name | None = None
    agent: AgentSpec | None = Field(default=None, description="The agent; by default the same as before.")
    policy: PolicyOverrides = PolicyOverrides()

    @field_validator("name")
    @classmethod
    def _no_control_characters(cls, value: str | None) -> str | None:
        return value if value is None else clean_text(value)
