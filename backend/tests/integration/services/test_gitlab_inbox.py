"""Deliveries of GitLab: the secret is checked, each is recorded once, and no other forge takes them."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.core.credentials import Credentials
from app.core.errors import InvalidInputError, NotFoundError, UnauthorizedError
from app.db.models import ForgeDelivery
from app.forges.operator_file import parse_forges
from app.services.forges.inbox import ForgeInbox
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

FILE = """
[credentials.acme]
env = "TOKEN"
[forges.hub]
credential = "acme"
webhook_secret = { env = "OTHER" }
[forges.lab]
kind = "gitlab"
credential = "acme"
webhook_secret = { env = "SECRET" }
"""


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


def headers(token: str = "s3cret", key: str = "1") -> dict[str, str]:
    return {"x-gitlab-token": token, "x-gitlab-event": "Issue Hook", "idempotency-key": key}


async def test_a_delivery_is_recorded_once(cases: UseCases) -> None:
    secrets = Credentials(environ={"SECRET": "s3cret", "OTHER": "of the hub"})
    inbox = ForgeInbox(cases.sessions, parse_forges(FILE, "forges.toml"), secrets)
    given = [(headers(), b"{}"), (headers(), b'{"a": 1}'), (headers(key="2"), b"{}")]
    assert [(await inbox.take_gitlab(*each)).status for each in given] == ["recorded", "repeated", "repeated"]
    for wrong in ("", "of the hub", "s3cre"):
        with pytest.raises(UnauthorizedError, match="X-Gitlab-Token does not match"):
            await inbox.take_gitlab(headers(wrong), b"{}")
    with pytest.raises(InvalidInputError, match="X-Gitlab-Event-UUID"):
        await inbox.take_gitlab(headers(key=""), b"{}")
    async with cases.sessions() as session:
        (row,) = await session.scalars(select(ForgeDelivery))
    assert (row.forge, row.event) == ("lab", "Issue Hook")


async def test_without_a_forge_of_the_kind_nothing_is_taken(cases: UseCases) -> None:
    file = parse_forges(FILE.partition("[forges.lab]")[0], "forges.toml")
    inbox = ForgeInbox(cases.sessions, file, Credentials(environ={"OTHER": "s3cret"}))
    with pytest.raises(NotFoundError, match="kind gitlab"):
        await inbox.take_gitlab(headers(), b"{}")
