"""Routes of evaluators: who judges, what they said, whether it was right; a judgement without an agent."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from app.api.edge.access import Operator, Reviewer, Services, Viewer
from app.schemas.api.evaluators import EvaluatorDetail, EvaluatorList, VerdictPage, VerdictQuery
from app.schemas.api.marks import MarkCreate, MarkList, MarkView
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.schemas.text import CleanLine

router = APIRouter(prefix="/api/v1", tags=["evaluators"])

Name = Annotated[CleanLine, Path(max_length=200)]


@router.get("/evaluators", summary="List the evaluators of each phase")
async def list_evaluators(services: Services, who: Viewer) -> EvaluatorList:
    """Gates decide; advisory evaluators are shown."""
    return EvaluatorList(items=services.evaluators.all())


@router.get("/evaluators/{name}", summary="Show an evaluator with its track record")
async def show_evaluator(name: Name, services: Services, who: Viewer) -> EvaluatorDetail:
    """Also one that is not registered here, as long as it has judged something."""
    return await services.evaluators.get(name)


@router.get("/evaluators/{name}/verdicts", summary="List an evaluator's verdicts, newest first")
async def list_verdicts(
    name: Name, query: Annotated[VerdictQuery, Query()], services: Services, who: Viewer
) -> VerdictPage:
    """With evidence and marks; `mark=false_fail` lists the good work that it stopped."""
    return await services.evaluators.verdicts(name, query)


@router.get("/evaluations/{evaluation_id}/marks", summary="List the marks on a verdict, newest first")
async def list_marks(evaluation_id: UUID, services: Services, who: Viewer) -> MarkList:
    """The newest one counts."""
    return await services.marks.of(evaluation_id)


@router.post("/evaluations/{evaluation_id}/marks", summary="Mark a verdict as right or wrong")
async def mark_verdict(evaluation_id: UUID, body: MarkCreate, services: Services, who: Reviewer) -> MarkView:
    """Each reviewer has one mark on a verdict; marking again replaces it, so repeating it is safe."""
    return await services.marks.mark(evaluation_id, body, who.name)


@router.delete("/evaluations/{evaluation_id}/marks/{mark_id}", status_code=204, summary="Take a mark back")
async def withdraw_mark(evaluation_id: UUID, mark_id: UUID, services: Services, who: Reviewer) -> None:
    """Reviewers take back their own, admins everybody's."""
    await services.marks.withdraw(evaluation_id, mark_id, who)


@router.post("/evaluations", summary="Judge a local workspace without any agent")
async def evaluate(body: EvaluateRequest, services: Services, who: Operator) -> EvaluationReport:
    """A copy is judged as it is on the disk now; with `base` only what is new against that commit counts."""
    return await services.evaluations.judge(body)
