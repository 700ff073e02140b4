"""Tokens are shown once, known by their digest, and gone at once when they are revoked."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.core.security import Role
from app.db.models import ApiToken
from app.services.access.tokens import TokenNeed, TokenService
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
def tokens(cases: UseCases) -> TokenService:
    return TokenService(cases.sessions)


async def test_a_token_is_recognised_until_it_is_revoked(cases: UseCases, tokens: TokenService) -> None:
    assert not await tokens.any_valid()
    token = await tokens.create("ada", "reviewer")
    principal = await tokens.recognise(token)
    assert principal is not None
    assert (principal.name, principal.role) == ("ada", Role.REVIEWER)
    assert (await tokens.list())[0].last_used_at is not None
    assert await tokens.any_valid()
    async with cases.sessions() as session:
        row = (await session.scalars(select(ApiToken))).one()
    assert token.encode() not in row.digest

    await tokens.revoke("ada")
    assert await tokens.recognise(token) is None
    assert not await tokens.any_valid()
    with pytest.raises(NotFoundError):
        await tokens.revoke("ada")


async def test_tokens_are_needed_from_the_first_one_on(tokens: TokenService) -> None:
    need = TokenNeed(tokens, needed=False)
    assert not await need()
    await tokens.create("ada", "viewer")
    assert await need()
    await tokens.revoke("ada")
    assert await need(), "who revokes the last token opens nothing"
    assert not await TokenNeed(tokens, needed=False)()
    assert await TokenNeed(tokens, needed=True)()


@pytest.mark.parametrize("token", ["", "x", "pr_" + "a" * 43, "\N{SNOWMAN}", "a" * 100_000])
async def test_what_is_no_token(tokens: TokenService, token: str) -> None:
    assert await tokens.recognise(token) is None


WRONG = {
    "no name": (" ", "viewer", "name"),
    "a name too long": ("n" * 101, "viewer", "name"),
    "a name with an escape sequence": ("a\x1b[2J", "viewer", "name"),
    "an unknown role": ("ada", "root", "role"),
}


@pytest.mark.parametrize(("name", "role", "field"), WRONG.values(), ids=WRONG.keys())
async def test_what_cannot_be_created(tokens: TokenService, name: str, role: str, field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await tokens.create(name, role)
    assert raised.value.field == field


async def test_a_name_is_used_once(tokens: TokenService) -> None:
    await tokens.create("ada", "viewer")
    with pytest.raises(ConflictError):
        await tokens.create("ada", "admin")
