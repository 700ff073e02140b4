"""Routes of agents: which of them are ready."""

from fastapi import APIRouter

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.agents import AgentList

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["agents"])


@router.get("/agents", summary="List agents and whether they are ready")
async def list_agents(services: Services, who: Viewer) -> AgentList:
    """An agent that is not ready says what is missing, such as a program or a key."""
    return await services.agents.all()
