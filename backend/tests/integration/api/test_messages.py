"""Messages to agents over HTTP: recorded, listed, and refused with the reason."""

from uuid import uuid4

import pytest

from tests.integration.api.support import Api, problem_of

pytestmark = pytest.mark.anyio


async def test_a_message_is_queued_and_listed(api: Api) -> None:
    run_id = await api.rows.run()
    place = f"/api/v1/runs/{run_id}/messages"
    sent = await api.client.post(place, json={"text": "Keep it small.", "mode": "queue"})
    assert sent.status_code == 201, sent.text
    shown = sent.json()
    assert (shown["text"], shown["mode"], shown["status"]) == ("Keep it small.", "queue", "queued")
    listed = await api.client.get(place)
    assert listed.json()["items"] == [shown]
    assert await api.rows.events(run_id) == ["agent.message"]


async def test_a_cancelled_run_refuses_what_waits_and_takes_no_more(api: Api) -> None:
    run_id = await api.rows.run()
    place = f"/api/v1/runs/{run_id}/messages"
    await api.client.post(place, json={"text": "Too late."})
    cancelled = await api.client.post(f"/api/v1/runs/{run_id}/cancel", json={})
    assert cancelled.status_code < 300, cancelled.text
    (message,) = (await api.client.get(place)).json()["items"]
    assert (message["status"], message["reason"]) == ("refused", "the run was cancelled")
    refused = await api.client.post(place, json={"text": "More."})
    assert refused.status_code == 409
    assert "cancelled" in problem_of(refused)["detail"]


async def test_only_sprints_take_messages(api: Api) -> None:
    run_id = await api.rows.run(kind="answer", phases=["answer"], phase="answer")
    refused = await api.client.post(f"/api/v1/runs/{run_id}/messages", json={"text": "Hello."})
    assert refused.status_code == 409
    assert "only sprints can" in problem_of(refused)["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "text", id="nothing"),
        pytest.param({"text": ""}, "text", id="empty"),
        pytest.param({"text": "x" * 1_000_000}, "text", id="a megabyte"),
        pytest.param({"text": "Hello.", "mode": "shout"}, "mode", id="no such mode"),
        pytest.param({"text": "Hello.", "by": "ada"}, "by", id="another's name"),
    ],
)
async def test_a_message_that_is_not_valid_is_refused_by_field(
    api: Api, body: dict[str, str], field: str
) -> None:
    run_id = await api.rows.run()
    refused = await api.client.post(f"/api/v1/runs/{run_id}/messages", json=body)
    assert refused.status_code in (413, 422), refused.text
    if refused.status_code == 422:
        assert field in refused.text
    assert (await api.client.get(f"/api/v1/runs/{run_id}/messages")).json()["items"] == []


async def test_an_unknown_run_takes_no_message(api: Api) -> None:
    refused = await api.client.post(f"/api/v1/runs/{uuid4()}/messages", json={"text": "Hello."})
    assert refused.status_code == 404
