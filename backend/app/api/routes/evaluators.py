"""Routes of evaluators: their verdicts, marks on these, and the evaluation of a local workspace."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from app.api.edge.access import Operator, Reviewer, Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.evaluators import EvaluatorDetail, EvaluatorList, VerdictPage, VerdictQuery
from app.schemas.api.marks import MarkCreate, MarkList, MarkView
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.schemas.text import CleanLine

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["evaluators"])

Name = Annotated[CleanLine, Path(max_length=200)]


@router.get("/evaluators", summary="List the evaluators of each phase")
async def list_evaluators(services: Services, who: Viewer) -> EvaluatorList:
    """Gates decide whether an attempt passes; advisers never block it."""
    return EvaluatorList(items=services.evaluators.all())


@router.get("/evaluators/{name}", summary="Show an evaluator with its track record")
async def show_evaluator(name: Name, services: Services, who: Viewer) -> EvaluatorDetail:
    """Also shows an evaluator that is not registered here but has verdicts."""
    return await services.evaluators.get(name)


@router.get("/evaluators/{name}/verdicts", summary="List an evaluator's verdicts, newest first")
async def list_verdicts(
    name: Name, query: Annotated[VerdictQuery, Query()], services: Services, who: Viewer
) -> VerdictPage:
    """Shows evidence and marks; `mark=wrong_fail` lists the good work that the evaluator blocked."""
    return await services.evaluators.verdicts(name, query)


@router.get("/evaluations/{evaluation_id}/marks", summary="List the marks on a verdict, newest first")
async def list_marks(evaluation_id: UUID, services: Services, who: Viewer) -> MarkList:
    """Only the newest mark counts."""
    return await services.marks.of(evaluation_id)


@router.post("/evaluations/{evaluation_id}/marks", summary="Mark a verdict as right or wrong")
async def mark_verdict(evaluation_id: UUID, body: MarkCreate, services: Services, who: Reviewer) -> MarkView:
    """Each reviewer has one mark per verdict. A new mark replaces the old one, so repeating is safe."""
    return await services.marks.mark(evaluation_id, body, who.name)


@router.delete("/evaluations/{evaluation_id}/marks/{mark_id}", status_code=204, summary="Remove a mark")
async def withdraw_mark(evaluation_id: UUID, mark_id: UUID, services: Services, who: Reviewer) -> None:
    """Reviewers can remove their own marks, admins all marks."""
    await services.marks.withdraw(evaluation_id, mark_id, who)


@router.post("/evaluations", summary="Evaluate a local workspace without an agent")
async def evaluate(body: EvaluateRequest, services: Services, who: Operator) -> EvaluationReport:
    """Evaluates a copy of the current files. With `base`, only issues new since that commit count."""
    return await services.evaluations.judge(body)
