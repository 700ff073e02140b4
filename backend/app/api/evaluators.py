"""Routes of evaluators: who judges, and a judgement without any agent."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.access import Operator, Services, Viewer
from app.schemas.sprints import EvaluateRequest, EvaluationReport

router = APIRouter(prefix="/api/v1", tags=["evaluators"])


class EvaluatorView(BaseModel):
    """One registered evaluator; `phases` null means every phase. Only gates decide."""

    name: str
    version: str
    category: str
    deterministic: bool
    gate: bool
    phases: list[str] | None
    source: str = Field(description="built-in, a package with its version, or phaserunner.toml")


class EvaluatorList(BaseModel):
    """The registered evaluators in their order."""

    items: list[EvaluatorView]


@router.get("/evaluators", summary="List the evaluators of each phase")
async def list_evaluators(services: Services, who: Viewer) -> EvaluatorList:
    """Gates decide; advisory evaluators are shown."""
    return EvaluatorList(
        items=[
            EvaluatorView(
                name=each.name,
                version=each.version,
                category=each.category,
                deterministic=each.deterministic,
                gate=each.gate,
                phases=list(each.phases) if each.phases is not None else None,
                source=each.source,
            )
            for each in services.evaluations.evaluators()
        ]
    )


@router.post("/evaluations", summary="Judge a local workspace without any agent")
async def evaluate(body: EvaluateRequest, services: Services, who: Operator) -> EvaluationReport:
    """A copy is judged as it is on the disk now; with `base` only what is new against that commit counts."""
    return await services.evaluations.judge(body)
