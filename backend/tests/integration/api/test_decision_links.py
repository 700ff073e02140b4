"""Links that decide: only a POST does, once, for the version that was sent."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.security import Role
from app.db.models import Escalation
from app.notifications.links import DecisionLink, sign_link
from app.schemas.runs import EscalationDecision
from tests.integration.api.support import LINK_SECRET, Api, problem_of

pytestmark = pytest.mark.anyio


def link_to(escalation_id: UUID, *, secret: str = LINK_SECRET, hours: float = 1, **values: Any) -> str:
    """The path of a link."""
    link = DecisionLink(
        **{
            "escalation_id": escalation_id,
            "version": 1,
            "decision": EscalationDecision.REJECT,
            "role": Role.REVIEWER,
            "receiver": "team",
            "expires_at": datetime.now(UTC) + timedelta(hours=hours),
            **values,
        }
    )
    return f"/decide/{sign_link(link, secret)}"


async def status_of(api: Api, escalation_id: UUID) -> tuple[str, str | None]:
    async with api.cases.sessions() as session:
        row = await session.get_one(Escalation, escalation_id)
        return row.status, row.decided_by


async def test_a_get_shows_and_only_a_post_decides_once(api: Api) -> None:
    run_id, escalation_id, _ = await api.rows.waiting()
    accept = link_to(escalation_id, decision=EscalationDecision.ACCEPT)
    reject = link_to(escalation_id)
    for _ in range(2):
        shown = await api.client.get(accept)
        assert shown.status_code == 200
        assert '<form method="post">' in shown.text
        assert shown.headers["referrer-policy"] == "same-origin"
    assert await status_of(api, escalation_id) == ("open", None)
    assert "was accepted" in (await api.client.post(accept)).text
    assert await status_of(api, escalation_id) == ("resolved", "link:team")
    assert await api.rows.jobs(run_id) == 1
    for again in (accept, reject):
        for answer in (await api.client.get(again), await api.client.post(again)):
            assert answer.status_code == 409
            assert "decided" in answer.text


async def test_a_link_for_another_version_does_nothing(api: Api) -> None:
    _, escalation_id, _ = await api.rows.waiting()
    async with api.cases.sessions.begin() as session:
        await session.execute(update(Escalation).where(Escalation.id == escalation_id).values(version=2))
    path = link_to(escalation_id)
    assert (await api.client.get(path)).status_code == 409
    assert (await api.client.post(path)).status_code == 409
    assert (await status_of(api, escalation_id))[0] == "open"


async def test_an_outage_is_a_page_that_asks_to_try_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    _, escalation_id, _ = await api.rows.waiting()
    path = link_to(escalation_id)

    async def fail(*_: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(AsyncSession, "get", fail)
    monkeypatch.setattr(AsyncSession, "execute", fail)
    monkeypatch.setattr(AsyncSession, "scalar", fail)
    for answer in (await api.client.get(path), await api.client.post(path)):
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/html")
        assert "Open the link again" in answer.text
    monkeypatch.undo()
    assert (await status_of(api, escalation_id))[0] == "open"


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "forged": ({"secret": "another secret of enough characters"}, "not made by this service"),
    "expired": ({"hours": -1}, "expired"),
    "of a receiver that is gone": ({"receiver": "old"}, "may no longer decide"),
    "of a receiver without links": ({"receiver": "watchers"}, "may no longer decide"),
}


@pytest.mark.parametrize(("values", "said"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_link_that_cannot_be_used_does_nothing(api: Api, values: dict[str, Any], said: str) -> None:
    _, escalation_id, _ = await api.rows.waiting()
    path = link_to(escalation_id, **values)
    for answer in (await api.client.get(path), await api.client.post(path)):
        assert answer.status_code == 403
        assert said in answer.text.replace("&#x27;", "'")
    assert (await status_of(api, escalation_id))[0] == "open"


async def test_a_link_needs_the_role_that_decides(api: Api) -> None:
    _, escalation_id, _ = await api.rows.waiting()
    answer = await api.client.post(link_to(escalation_id, role=Role.OPERATOR))
    assert answer.status_code == 403
    assert "cannot decide" in answer.text


async def test_what_others_wrote_is_no_markup_on_the_page(api: Api) -> None:
    run_id = await api.rows.run(status="waiting", name="<script>alert(1)</script>")
    await api.rows.attempt(run_id)
    shown = await api.client.get(link_to(await api.rows.escalation(run_id)))
    assert "<script>" not in shown.text
    assert "&lt;script&gt;" in shown.text


async def test_a_link_to_nothing_says_so(api: Api) -> None:
    assert (await api.client.get(link_to(uuid4()))).status_code == 404


async def test_receivers_are_listed_without_addresses(api: Api) -> None:
    listed = (await api.client.get("/api/v1/notifications")).json()["items"]
    assert [(each["name"], each["decide"]) for each in listed] == [("team", True), ("watchers", False)]
    assert "secret" not in str(listed)
    refused = problem_of(await api.client.post("/api/v1/notifications/nobody/test"))
    assert "the receivers are: team, watchers" in refused["detail"]
