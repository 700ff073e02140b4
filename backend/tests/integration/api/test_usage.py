"""What a run's model requests consumed: stored in batches, through outages, and shown in sums."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from app.agents.gateway_port import RequestLabels
from app.db.engine import Sessions
from app.db.models import ModelRequestRow
from app.gateway.ledger import ModelRequest
from app.gateway.prices import Cost, CostKind
from app.gateway.usage_reading import Tokens
from app.schemas.runs import ModelRole
from app.services.record.model_requests import MAX_BATCH, RequestLedger, open_ledger
from tests.integration.api.support import Api, problem_of

pytestmark = pytest.mark.anyio

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
DEAR = Cost(Decimal("0.25"), CostKind.BILLED)
COMPUTED = Cost(Decimal("0.125"), CostKind.COMPUTED)


def line(run_id: UUID | None, *, attempt: int = 1, **changed: Any) -> ModelRequest:
    labels = RequestLabels(run_id, "coding", attempt, 0, changed.pop("role", ModelRole.AGENT))
    fields: dict[str, Any] = {
        "labels": labels,
        "provider": "openai",
        "model": "gpt-5",
        "tokens": Tokens(1000, 10, 400),
        "cost": COMPUTED,
        "status": 200,
        "latency_ms": 50,
        "at": AT + timedelta(seconds=attempt),
    }
    return ModelRequest(**{**fields, **changed})


async def test_sums_and_parts_of_a_run(api: Api) -> None:
    run_id, other = await api.rows.run(), await api.rows.run()
    async with open_ledger(api.cases.sessions) as ledger:
        ledger.record(line(run_id))
        ledger.record(line(run_id, latency_ms=150))
        ledger.record(line(run_id, status=503, tokens=Tokens(), cost=Cost()))
        ledger.record(line(run_id, attempt=2, model="claude", provider="anthropic", cost=DEAR))
        ledger.record(line(run_id, attempt=2, role=ModelRole.JUDGE, cost=Cost()))
        ledger.record(line(other, cost=DEAR))
        ledger.record(line(None, cost=DEAR))
    answer = await api.client.get(f"/api/v1/runs/{run_id}/usage")
    assert answer.status_code == 200, answer.text
    usage = answer.json()
    assert usage["total"] == {
        "requests": 5,
        "failed_requests": 1,
        "input_tokens": 4000,
        "output_tokens": 40,
        "cached_tokens": 1600,
        "cost_usd": 0.5,
        "billed_usd": 0.25,
        "computed_usd": 0.25,
        "unknown_costs": 2,
    }
    shown = [(each["attempt"], each["role"], each["model"], each["requests"]) for each in usage["parts"]]
    assert shown == [(1, "agent", "gpt-5", 3), (2, "agent", "claude", 1), (2, "judge", "gpt-5", 1)]
    assert usage["parts"][0]["latency_ms"] == 83
    assert usage["parts"][2]["cost_usd"] is None


async def test_a_run_without_requests(api: Api) -> None:
    usage = (await api.client.get(f"/api/v1/runs/{await api.rows.run()}/usage")).json()
    assert (usage["total"]["requests"], usage["total"]["cost_usd"], usage["parts"]) == (0, None, [])


async def test_no_such_run(api: Api) -> None:
    assert problem_of(await api.client.get(f"/api/v1/runs/{uuid4()}/usage"))["status"] == 404


class Faulty:
    """Sessions of a database that fails a few times; `after` it has taken the batch, or before."""

    def __init__(self, sessions: Sessions, faults: int, *, after: bool) -> None:
        self._sessions = sessions
        self._faults = faults
        self._after = after

    def begin(self) -> Any:
        return self

    async def __aenter__(self) -> Any:
        self._fails = self._faults > 0
        self._faults -= 1
        if self._fails and not self._after:
            raise _outage()
        self._open = self._sessions.begin()
        return await self._open.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await self._open.__aexit__(*error)
        if self._fails:
            raise _outage()


def _outage() -> OperationalError:
    return OperationalError("INSERT", {}, ConnectionResetError("lost"), connection_invalidated=True)


@pytest.mark.parametrize("after", [False, True], ids=["before the commit", "after the commit"])
async def test_an_outage_loses_and_doubles_nothing(api: Api, after: bool) -> None:
    run_id = await api.rows.run()
    sessions: Any = Faulty(api.cases.sessions, 2, after=after)
    async with open_ledger(sessions) as ledger:
        for _ in range(MAX_BATCH + 5):
            ledger.record(line(run_id))
    assert await _stored(api, run_id) == MAX_BATCH + 5


async def test_a_line_that_the_database_refuses_costs_no_other(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = await api.rows.run()
    async with open_ledger(api.cases.sessions) as ledger:
        for each in (run_id, uuid4(), run_id, run_id):
            ledger.record(line(each))
    assert await _stored(api, run_id) == 3
    assert "could not record a model request" in caplog.text


async def test_recording_never_waits(api: Api) -> None:
    ledger = RequestLedger(api.cases.sessions)
    for _ in range(30_000):
        ledger.record(line(None))
    assert len(ledger._waiting) == 20_000  # pyright: ignore[reportPrivateUsage]


async def test_the_database_refuses_a_cost_without_its_kind(api: Api) -> None:
    row = "INSERT INTO model_requests (id, role, provider, model, cost_kind, status, latency_ms, at) VALUES "
    async with api.cases.sessions.begin() as session:
        with pytest.raises(Exception, match="ck_model_requests_cost"):
            await session.execute(
                text(f"{row} (gen_random_uuid(), 'agent', 'p', 'm', 'billed', 200, 1, now())")
            )
        await session.rollback()


async def _stored(api: Api, run_id: UUID) -> int:
    statement = select(func.count()).select_from(ModelRequestRow).where(ModelRequestRow.run_id == run_id)
    async with api.cases.sessions() as session:
        return await session.scalar(statement) or 0


async def test_requests_of_an_attempt_with_their_times(api: Api) -> None:
    run_id = await api.rows.run()
    await api.rows.attempt(run_id)
    later = AT + timedelta(seconds=9)
    async with open_ledger(api.cases.sessions) as ledger:
        ledger.record(line(run_id, at=later, role=ModelRole.JUDGE, status=503, tokens=Tokens(), cost=Cost()))
        ledger.record(line(run_id))
        ledger.record(line(run_id, attempt=2))
    answer = await api.client.get(f"/api/v1/runs/{run_id}/attempts/coding/1/model-requests")
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["items"]
    assert (first["role"], first["model"], first["latency_ms"], first["input_tokens"]) == (
        "agent",
        "gpt-5",
        50,
        1000,
    )
    assert (second["role"], second["status"], second["input_tokens"]) == ("judge", 503, None)
    assert datetime.fromisoformat(second["at"]) == later
    assert answer.json()["more"] is False
    missing = await api.client.get(f"/api/v1/runs/{run_id}/attempts/coding/7/model-requests")
    assert missing.status_code == 404
