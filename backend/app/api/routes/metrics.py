"""Routes of metrics: pass rates, escalations, cost."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.calibrations import KeptCalibration
from app.schemas.api.metrics import MetricQuery, MetricsReport, Trend, TrendQuery
from app.schemas.api.observed import ObserveReport

router = APIRouter(route_class=StrictRoute, prefix="/api/v1/metrics", tags=["metrics"])


@router.get("", summary="Measure runs")
async def show_metrics(
    query: Annotated[MetricQuery, Query()], services: Services, who: Viewer
) -> MetricsReport:
    """Returns each share with its n and 95% interval. A share without cases is null, never 0.

    `counted` and `considered` of a share are queries of `/api/v1/runs` that list the runs behind it.
    """
    return await services.metrics.report(query)


@router.get("/trend", summary="Measure runs by the time they were created")
async def show_trend(query: Annotated[TrendQuery, Query()], services: Services, who: Viewer) -> Trend:
    """Returns one point per step in UTC, including steps without runs."""
    return await services.trends.trend(query)


@router.get("/observed", summary="Report what observed gates would have blocked")
async def show_observed(
    query: Annotated[MetricQuery, Query()], services: Services, who: Viewer
) -> ObserveReport:
    """Returns the figures of each observed gate, and the newest attempts that it would have blocked."""
    return await services.observed.report(query)


@router.get("/calibrations", summary="Show the last calibration on each corpus")
async def list_calibrations(services: Services, who: Viewer) -> list[KeptCalibration]:
    """Returns what `phaserunner evaluators calibrate CORPUS --keep` wrote to DATA_DIR, newest first."""
    return await services.calibrations.all()
