"""Messages to other services: seen with their failures, and sent again when somebody asks."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from app.db.models import WebhookDelivery
from tests.integration.api.support import WEBHOOK_URL, Api, problem_of

pytestmark = pytest.mark.anyio

PATH = "/api/v1/webhooks/deliveries"


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text
    return response.json()


async def put(api: Api, *, run_id: UUID | None = None, **values: Any) -> UUID:
    """Add a message, given up unless told otherwise."""
    row = WebhookDelivery(
        id=uuid4(),
        run_id=run_id or await api.rows.run(),
        **{
            "sequence": 1,
            "event": "escalation.required",
            "url": WEBHOOK_URL,
            "status": "failed",
            "tries": 10,
            "last_error": "answered 500",
            "finished_at": datetime.now(UTC),
            **values,
        },
    )
    async with api.cases.sessions.begin() as session:
        session.add(row)
    return row.id


async def test_what_failed_is_listed_with_the_reason_and_without_the_secret_in_the_address(api: Api) -> None:
    run_id = await api.rows.run()
    failed = await put(api, run_id=run_id)
    await put(api, run_id=run_id, sequence=2, status="delivered", last_error="", tries=1)
    everything = await api.client.get(PATH, params={"run_id": str(run_id)})
    assert len(ok(everything)["items"]) == 2
    assert "secret" not in everything.text
    query = {"run_id": str(run_id), "status": "failed"}
    (only,) = ok(await api.client.get(PATH, params=query))["items"]
    told = {name: only[name] for name in ("id", "receiver", "tries", "last_error", "next_at")}
    assert told == {
        "id": str(failed),
        "receiver": "https://hooks.example:8443",
        "tries": 10,
        "last_error": "answered 500",
        "next_at": None,
    }


async def test_pages_show_each_message_once(api: Api) -> None:
    run_id = await api.rows.run()
    made = {str(await put(api, run_id=run_id, sequence=number)) for number in range(1, 6)}
    await put(api)
    seen: list[str] = []
    query: dict[str, Any] = {"run_id": str(run_id), "limit": 2}
    while True:
        page = ok(await api.client.get(PATH, params=query))
        seen += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert len(seen) == 5
    assert set(seen) == made


async def test_one_more_series_of_tries(api: Api) -> None:
    failed = await put(api)
    for _ in range(2):
        again = ok(await api.client.post(f"{PATH}/{failed}/retry"))
        assert (again["status"], again["tries"], again["finished_at"]) == ("pending", 0, None)
    async with api.cases.sessions() as session:
        row = await session.get_one(WebhookDelivery, failed)
    assert row.next_at <= datetime.now(UTC)
    assert row.last_error == "answered 500", "why it was needed stays to be seen"


@pytest.mark.parametrize(
    ("values", "detail"),
    [
        pytest.param({"status": "delivered"}, "was taken at", id="taken"),
        pytest.param({"url": "https://former.example/hook"}, "no longer in WEBHOOK_URLS", id="no longer set"),
    ],
)
async def test_what_cannot_be_sent_again(api: Api, values: dict[str, Any], detail: str) -> None:
    response = await api.client.post(f"{PATH}/{await put(api, **values)}/retry")
    assert response.status_code == 409
    assert detail in problem_of(response)["detail"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param(f"/{uuid4()}/retry", 404, id="nobody knows it"),
        pytest.param("/x/retry", 422, id="no id"),
    ],
)
async def test_messages_that_are_none(api: Api, path: str, status: int) -> None:
    response = await api.client.post(PATH + path)
    assert response.status_code == status
    problem_of(response)


@pytest.mark.parametrize("query", [{"status": "lost"}, {"run_id": "x"}, {"cursor": "x"}, {"limit": 0}])
async def test_lists_that_are_none(api: Api, query: dict[str, Any]) -> None:
    response = await api.client.get(PATH, params=query)
    assert response.status_code == 422
    problem_of(response)
