"""Repeated requests: one effect, and the same response for all of them."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import ConflictError, InvalidInputError
from app.schemas.api.sprints import SprintCreate
from app.services.control.idempotency import IdempotencyService, Once
from tests.integration.services.support import UseCases, at_once, make_repository, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data dir") as opened:
        yield opened


def request(**fields: Any) -> SprintCreate:
    return SprintCreate.model_validate({"goal": "make it work", "source": {"kind": "empty"}} | fields)


def files_of_runs(cases: UseCases) -> list[Path]:
    return list((cases.data_dir / "runs").glob("*"))


async def test_the_same_request_many_times_at_once_starts_one_sprint(cases: UseCases) -> None:
    repeats = IdempotencyService(cases.sessions)
    key = Once("a key", "POST /sprints", b"digest", 201)

    async def start() -> Any:
        return await repeats.once(key, lambda once: cases.sprints.start(request(), "ada", once))

    # More than there are connections: waiting for one another must not need them all.
    replies = await at_once(*(start() for _ in range(24)))
    assert {reply.status for reply in replies} == {201}
    assert len({reply.body["id"] for reply in replies}) == 1
    assert [reply.repeated for reply in replies].count(False) == 1
    assert await cases.rows.count("runs") == 1
    assert len(files_of_runs(cases)) == 1
    assert all(reply.body == replies[0].body for reply in replies)


async def test_a_key_of_another_request(cases: UseCases) -> None:
    repeats = IdempotencyService(cases.sessions)
    first, other = (Once("a key", "POST /sprints", digest) for digest in (b"one", b"two"))
    await repeats.once(first, lambda once: cases.sprints.start(request(), "ada", once))
    with pytest.raises(ConflictError, match="another request"):
        await repeats.once(other, lambda once: cases.sprints.start(request(), "ada", once))
    assert await cases.rows.count("runs") == 1


async def test_failures_are_not_kept(cases: UseCases, tmp_path: Path) -> None:
    repeats = IdempotencyService(cases.sessions)
    key = Once("a key", "POST /sprints", b"digest")
    local = request(source={"kind": "local", "path": str(tmp_path / "project")})
    with pytest.raises(InvalidInputError):
        await repeats.once(key, lambda once: cases.sprints.start(local, "ada", once))
    make_repository(tmp_path / "project")
    reply = await repeats.once(key, lambda once: cases.sprints.start(local, "ada", once))
    assert not reply.repeated
