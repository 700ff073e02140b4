"""Routes of answers: start, list, show, cancel."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.answers import AnswerCreate, AnswerDetail
from app.schemas.api.run_lists import RunQuery
from app.schemas.api.runs import RunCancel, RunPage
from app.schemas.runs import RunKind

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["answers"])


@router.post("/answers", status_code=201, response_model=AnswerDetail, summary="Ask for an answer")
async def start_answer(
    body: AnswerCreate, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Starts to answer a question from evidence. A worker writes, evaluates and retries.

    Once `status` is final, `result` holds the answer, or a partial one with its gaps.
    """
    services.agents.require_model(body.agent, "answers")
    return await repeatable.respond(lambda once: services.answers.start(body, who.name, once), status=201)


@router.get("/answers", summary="List answers, newest first")
async def list_answers(query: Annotated[RunQuery, Query()], services: Services, who: Viewer) -> RunPage:
    """Takes the filters and orders of `/runs`."""
    return await services.lists.page_of(RunKind.ANSWER, query)


@router.get("/answers/{answer_id}", summary="Show an answer with every attempt")
async def show_answer(answer_id: UUID, services: Services, who: Viewer) -> AnswerDetail:
    """Shows each attempt with its analysis, its evidence and the four dimensions."""
    return await services.answers.get(answer_id)


@router.post(
    "/answers/{answer_id}/cancel", response_model=AnswerDetail, summary="Cancel an answer", deprecated=True
)
async def cancel_answer(
    answer_id: UUID,
    services: Services,
    who: Operator,
    repeatable: Repeatable,
    body: RunCancel | None = None,
) -> Response:
    """Use `/api/v1/runs/{run_id}/cancel` instead; this one returns the answer with its attempts."""
    reason, show = body.reason if body else "", services.answers.show
    return await repeatable.respond(
        lambda once: services.cancels.cancel(answer_id, reason, who.name, once, show)
    )
