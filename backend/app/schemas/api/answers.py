"""Answers in the API."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.schemas.agents import AgentSpec
from app.schemas.answer_rules import MAX_RULES, Rule
from app.schemas.api.escalations import EscalationView
from app.schemas.api.policies import PolicyView
from app.schemas.api.runs import Name, RunView
from app.schemas.response_evaluation import Analysis, EvaluatorOutput
from app.schemas.runs import AttemptState, Budget, Usage
from app.schemas.text import CleanText
from app.schemas.text import Name as DomainName
from app.schemas.workspaces import EmptySource, WorkspaceSource

MAX_QUERY_CHARS = 20_000
MAX_ENTRY_CHARS = 50_000
MAX_ENTRIES = 200


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty or blank")
    return value


_Query = Annotated[CleanText, Field(max_length=MAX_QUERY_CHARS), AfterValidator(_not_blank)]
_Entry = Annotated[CleanText, Field(max_length=MAX_ENTRY_CHARS), AfterValidator(_not_blank)]


class AnswerCreate(BaseModel):
    """What an answer needs to start.

    Attributes:
        query: the user's question.
        entries: evidence; each is a text that begins with its source. Without any,
            every claim is unsupported.
        source: a workspace whose passages also serve as evidence; further passages are looked up if an
            attempt lacks data.
        domains: names of rule sets that the operator has configured.
        rules: further rules that the answer must keep.
        max_retries: attempts after the first one.
        agent: the model that writes, or a script that plays writer and judge.
        budget: what the answer may consume.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: _Query
    entries: list[_Entry] = Field(default=[], max_length=MAX_ENTRIES)
    source: WorkspaceSource = EmptySource()
    domains: list[DomainName] = Field(default=[], max_length=20)
    rules: list[Rule] = Field(default=[], max_length=MAX_RULES)
    max_retries: int = Field(default=2, ge=0, le=2)
    name: Name | None = None
    agent: AgentSpec = AgentSpec()
    budget: Budget | None = None


class AnswerAttemptView(BaseModel):
    """One attempt at an answer.

    Attributes:
        answer: the text; null if none was written.
        analysis: the analysis that the text is based on.
        entries: number of pieces of evidence.
        found: the evidence that was looked up in the workspace.
        evaluation: the four dimensions and what follows from them; null if there is no evaluation.
        trouble: why the attempt failed.
        lost_workers: workers that died during it; what was recorded before is not done again.
        consumed: what writer and judge consumed.
    """

    model_config = ConfigDict(frozen=True)

    number: int
    status: AttemptState
    answer: str | None
    analysis: Analysis
    entries: int
    found: list[str]
    evaluation: EvaluatorOutput | None
    trouble: str
    models: list[str]
    started_at: datetime
    completed_at: datetime | None
    lost_workers: int
    consumed: Usage


class AnswerResult(BaseModel):
    """The result of an answer.

    Attributes:
        status: `accepted` is good in all dimensions; `partial` has gaps; `unavailable` if
            a model was unavailable.
        answer: the text to deliver; null if none may be delivered.
        gaps: what the answer lacks.
        withheld: no attempt kept the safety rules, so none is delivered.
        reason: why the answer was not accepted.
    """

    model_config = ConfigDict(frozen=True)

    status: str
    answer: str | None
    gaps: list[str]
    withheld: bool
    reason: str


class AnswerDetail(RunView):
    """One answer with its attempts. `result` is null until it ends, and if it ended without an attempt."""

    query: str
    entries: list[str]
    domains: list[str]
    rules: list[str]
    policy: PolicyView
    attempts: list[AnswerAttemptView]
    result: AnswerResult | None
    escalations: list[EscalationView]
