"""Links each figure to the list of runs that it counts. Pure."""

from urllib.parse import urlencode

from app.core.intervals import share
from app.schemas.api.metrics import MetricShare
from app.schemas.api.run_lists import MetricName, MetricPart, RunScope

Counts = tuple[int, int]
"""How many cases count, and how many cases there are."""


class MetricLinks:
    """Makes shares for the runs of one scope."""

    def __init__(self, scope: RunScope) -> None:
        times = [("since", scope.since), ("until", scope.until)]
        choices = {"kind": scope.kind, "project": scope.project, "agent": scope.agent}
        self._scope = [(name, at.isoformat()) for name, at in times if at is not None]
        self._scope += [(name, str(each)) for name, chosen in choices.items() for each in chosen]

    def share(
        self, counts: Counts, metric: MetricName, *, phase: str | None = None, key: str | None = None
    ) -> MetricShare:
        """Return a share with the queries that list its runs."""
        return MetricShare(
            **dict(share(*counts)),
            counted=self.query(metric, "counted", phase, key),
            considered=self.query(metric, "considered", phase, key),
        )

    def query(self, metric: MetricName, part: MetricPart, phase: str | None, key: str | None) -> str:
        """Return the query of `GET /api/v1/runs` that lists the runs behind a number."""
        given = [("metric", metric.value), ("metric_part", part)]
        given += [("metric_phase", phase)] if phase is not None else []
        given += [("metric_key", key)] if key is not None else []
        return urlencode(given + self._scope)
