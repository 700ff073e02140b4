"""Creates answers from requests, and shows them."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Run
from app.runners.answer.rules import rules_for
from app.runners.answer.steps import PHASE, AnswerAttempt, answer_policy
from app.schemas.answer_rules import RuleSets
from app.schemas.api.answers import AnswerAttemptView, AnswerCreate, AnswerDetail, AnswerResult
from app.schemas.api.policies import PolicyView
from app.schemas.runs import AttemptState, RunKind, RunPolicy, RunStatus, Usage
from app.services.control.intake import Intake, NewRun
from app.services.control.kinds import RunsOfKind, load_whole
from app.services.control.policies import with_budget
from app.services.read.views import escalation_view, run_view
from app.services.record.answers import AnswerQuestion, attempt_of, question_document, question_of, result_of

AnswerService = RunsOfKind[AnswerCreate, AnswerDetail]


def answer_service(intake: Intake, defaults: RunPolicy, rules: RuleSets) -> AnswerService:
    """Return the service that starts and shows answers.

    Args:
        intake: starts runs.
        defaults: the policy for whatever the request leaves out.
        rules: rule sets by domain.
    """

    def prepare(request: AnswerCreate, actor: str) -> NewRun:
        question = AnswerQuestion(
            query=request.query,
            entries=tuple(request.entries),
            domains=tuple(request.domains),
            rules=tuple(rules_for(rules, request.domains, request.rules)),
        )
        return NewRun(
            kind=RunKind.ANSWER,
            phases=[PHASE],
            source=request.source,
            goal=request.query,
            name=request.name,
            policy=answer_policy(with_budget(defaults, request.budget), request.max_retries),
            agent=request.agent,
            definition=question_document(question),
            actor=actor,
        )

    return RunsOfKind(kind=RunKind.ANSWER, prepare=prepare, view=show_answer, intake=intake)


async def show_answer(session: AsyncSession, run: Run) -> AnswerDetail:
    """Show an answer with every attempt."""
    whole = await load_whole(session, run)
    rows = whole.attempts
    question = question_of(run)
    attempts = [attempt_of(each, question.entries) for each in rows]
    return AnswerDetail(
        **dict(run_view(run, rows, whole.escalations)),
        query=question.query,
        entries=list(question.entries),
        domains=list(question.domains),
        rules=list(question.rules),
        policy=PolicyView.of(RunPolicy.model_validate(run.policy)),
        attempts=[_view(row, each, question) for row, each in zip(rows, attempts, strict=True)],
        result=_result(run, rows, attempts) if RunStatus(run.status).is_final else None,
        escalations=[escalation_view(each, run) for each in whole.escalations],
    )


def _result(run: Run, rows: Sequence[Attempt], attempts: Sequence[AnswerAttempt]) -> AnswerResult | None:
    # Without a verdict on the last attempt, only a person's decision completes an answer.
    return result_of(rows, attempts, accepted=run.status == RunStatus.COMPLETED)


def _view(row: Attempt, attempt: AnswerAttempt, question: AnswerQuestion) -> AnswerAttemptView:
    over = row.status in (AttemptState.PASSED, AttemptState.FAILED)
    asked = [attempt.synthesis.model, attempt.judged.model if attempt.judged else ""]
    return AnswerAttemptView(
        number=row.number,
        status=AttemptState(row.status),
        answer=attempt.synthesis.answer,
        analysis=attempt.synthesis.analysis,
        entries=len(attempt.entries),
        found=list(attempt.entries[len(question.entries) :]),
        evaluation=attempt.output,
        trouble=attempt.trouble if over else "",
        models=[each for each in dict.fromkeys(asked) if each],
        started_at=row.started_at,
        completed_at=row.completed_at,
        lost_workers=row.lost_workers,
        consumed=Usage.model_validate(row.usage),
    )
