"""Starts, shows and cancels answers that are checked."""

from app.db.engine import Sessions
from app.db.models import Attempt
from app.runners.answer.rules import rules_for
from app.runners.answer.steps import PHASE, AnswerAttempt, answer_policy
from app.schemas.answer_rules import RuleSets
from app.schemas.api.answers import AnswerAttemptView, AnswerCreate, AnswerDetail
from app.schemas.api.policies import PolicyOverrides, PolicyView
from app.schemas.runs import AttemptState, RunKind, RunPolicy, RunStatus, Usage
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Intake
from app.services.control.kinds import NewRun, RunsOfKind, WholeRun
from app.services.control.sprints import with_overrides
from app.services.read.views import escalation_view, run_view
from app.services.record.answers import AnswerQuestion, attempt_of, question_document, question_of, result_of
from app.services.record.outbox import NO_WEBHOOKS, Outbox


class AnswerService:
    """Starts, shows and cancels answers.

    Args:
        sessions: opens transactions.
        intake: takes runs in.
        defaults: the policy of a run that names nothing else.
        rules: rule sets by domain.
        outbox: tells other services.
    """

    def __init__(
        self,
        sessions: Sessions,
        intake: Intake,
        defaults: RunPolicy,
        rules: RuleSets,
        outbox: Outbox = NO_WEBHOOKS,
    ) -> None:
        self._defaults = defaults
        self._rules = rules
        self._door = RunsOfKind(
            kind=RunKind.ANSWER,
            phase=PHASE,
            view=show_answer,
            sessions=sessions,
            intake=intake,
            outbox=outbox,
        )
        self.get = self._door.get
        self.cancel = self._door.cancel

    async def start(self, request: AnswerCreate, actor: str, once: Once = UNKEYED) -> AnswerDetail:
        """Start an answer; see `RunsOfKind.start`.

        Raises:
            AnsweredError: the same request started an answer in the meantime.
            InvalidInputError, WorkspaceError: a domain is unknown, or the source cannot be used.
        """
        question = AnswerQuestion(
            query=request.query,
            entries=tuple(request.entries),
            domains=tuple(request.domains),
            rules=tuple(rules_for(self._rules, request.domains, request.rules)),
        )
        policy = with_overrides(self._defaults, PolicyOverrides(budget=request.budget))
        new = NewRun(
            source=request.source,
            goal=request.query,
            name=request.name,
            policy=answer_policy(policy, request.max_retries),
            agent=request.agent,
            definition=question_document(question),
            actor=actor,
        )
        return await self._door.start(new, once)


def show_answer(whole: WholeRun) -> AnswerDetail:
    """Show an answer with every attempt."""
    run, rows = whole.run, whole.attempts
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
        result=result_of(rows, attempts) if RunStatus(run.status).is_final else None,
        escalations=[escalation_view(each, run) for each in whole.escalations],
    )


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
