"""Shows evaluators, with the track record and verdicts of each."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, exists, select, tuple_

from app.core.errors import NotFoundError
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Evaluation, Run, VerdictMark
from app.runners.evaluators.registrations import EvaluatorDescription
from app.schemas.api.evaluators import EvaluatorDetail, EvaluatorView, VerdictPage, VerdictQuery, VerdictView
from app.schemas.runs import RunKind
from app.services.read.paging import decode_cursor, encode_cursor
from app.services.read.runs import load_marks
from app.services.read.views import Marks, evaluation_view
from app.services.review.track_records import load_track_records, load_versions

_MARK_STATUS = {"wrong_pass": "passed", "wrong_fail": "failed"}


class EvaluatorService:
    """Shows evaluators.

    Args:
        sessions: opens short sessions.
        described: every evaluator of sprints.
    """

    def __init__(self, sessions: Sessions, described: Sequence[EvaluatorDescription]) -> None:
        self._sessions = sessions
        self._described = {each.name: _view(each) for each in described}

    def all(self) -> list[EvaluatorView]:
        """Return the registered evaluators in their order."""
        return list(self._described.values())

    async def get(self, name: str) -> EvaluatorDetail:
        """Return one evaluator with its track record.

        Raises:
            NotFoundError: no evaluator of this name is registered or has ever judged.
        """
        async with self._sessions() as session:
            versions = await load_versions(session, name)
            if not versions and name not in self._described:
                raise NotFoundError(f"there is no evaluator {name!r}")
            record = (await load_track_records(session, [name]))[0]
        return EvaluatorDetail(
            name=name, registered=self._described.get(name), versions=versions, record=record
        )

    async def verdicts(self, name: str, query: VerdictQuery) -> VerdictPage:
        """Return a page of an evaluator's verdicts, newest first.

        Raises:
            NotFoundError: no evaluator of this name is registered or has ever judged.
            InvalidInputError: the cursor is invalid.
        """
        statement = _verdicts(name, query).limit(query.limit + 1)
        async with self._sessions() as session:
            if name not in self._described and not await session.scalar(
                select(exists().where(Evaluation.evaluator == name))
            ):
                raise NotFoundError(f"there is no evaluator {name!r}")
            rows = (await session.execute(statement)).all()
            marks = await load_marks(session, [row[0].id for row in rows])
        last = rows[query.limit - 1][0] if len(rows) > query.limit else None
        return VerdictPage(
            items=[
                _verdict(evaluation, candidate, attempt, run, marks)
                for evaluation, candidate, attempt, run in rows[: query.limit]
            ],
            next_cursor=encode_cursor(last.evaluated_at, last.id) if last else None,
        )


def _verdicts(name: str, query: VerdictQuery) -> Select[Evaluation, Candidate, Attempt, Run]:
    statement = (
        select(Evaluation, Candidate, Attempt, Run)
        .join(Candidate, Candidate.id == Evaluation.candidate_id)
        .join(Attempt, Attempt.id == Candidate.attempt_id)
        .join(Run, Run.id == Attempt.run_id)
        .where(Evaluation.evaluator == name, *_conditions(query))
        .order_by(Evaluation.evaluated_at.desc(), Evaluation.id.desc())
    )
    if query.cursor is not None:
        before = tuple_(*decode_cursor(query.cursor))
        statement = statement.where(tuple_(Evaluation.evaluated_at, Evaluation.id) < before)
    return statement


def _conditions(query: VerdictQuery) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if query.status:
        found.append(Evaluation.status.in_(query.status))
    if query.phase:
        found.append(Attempt.phase.in_(query.phase))
    if query.version:
        found.append(Evaluation.version.in_(query.version))
    if query.since is not None:
        found.append(Evaluation.evaluated_at >= query.since)
    if query.until is not None:
        found.append(Evaluation.evaluated_at < query.until)
    return found + (_marked(query.mark) if query.mark else [])


def _marked(mark: str) -> list[ColumnElement[bool]]:
    has_mark = exists().where(VerdictMark.evaluation_id == Evaluation.id)
    if mark in ("any", "none"):
        return [has_mark if mark == "any" else ~has_mark]
    newest = (
        select(VerdictMark.was_right)
        .where(VerdictMark.evaluation_id == Evaluation.id)
        .order_by(VerdictMark.marked_at.desc(), VerdictMark.id)
        .limit(1)
        .scalar_subquery()
    )
    if mark == "right":
        return [newest.is_(True)]
    return [newest.is_(False), Evaluation.status == _MARK_STATUS[mark]]


def _view(each: EvaluatorDescription) -> EvaluatorView:
    return EvaluatorView(
        name=each.name,
        version=each.version,
        category=each.category,
        deterministic=each.deterministic,
        gate=each.gate,
        observed=each.observed,
        phases=list(each.phases) if each.phases is not None else None,
        source=each.source,
    )


def _verdict(
    evaluation: Evaluation, candidate: Candidate, attempt: Attempt, run: Run, marks: Marks
) -> VerdictView:
    return VerdictView(
        run_id=run.id,
        run_name=run.name,
        run_kind=RunKind(run.kind),
        phase=attempt.phase,
        attempt=attempt.number,
        candidate=candidate.index,
        chosen=candidate.index == attempt.chosen_candidate,
        evaluation=evaluation_view(evaluation, marks.get(evaluation.id, ())),
    )
