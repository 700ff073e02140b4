"""A stage with an API and clients that follow its runs: each must see every event once."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from typing_extensions import override

from app.client.events import Reconnect, Reset, follow
from harness.boundaries import Action
from harness.invariants import follower_violations
from harness.stage import REST_SECONDS, Stage, plan_faults
from tests.integration.realtime.support import serving
from tests.integration.services.support import UseCases, use_cases

_PATIENT = Reconnect(first=0.05, longest=0.2, give_up_after=REST_SECONDS)


@dataclass(kw_only=True)
class Scene(Stage):
    """What a test of faults works with."""

    cases: UseCases
    api: str
    followers: dict[UUID, asyncio.Task[list[Mapping[str, Any]]]] = field(
        default_factory=dict[UUID, "asyncio.Task[list[Mapping[str, Any]]]"]
    )

    @override
    async def sprint(
        self, boundary: str = "", action: Action = Action.KILL, *, max_attempts: int = 3
    ) -> UUID:
        """Start a sprint that meets a fault, and follow it."""
        run_id = await super().sprint(boundary, action, max_attempts=max_attempts)
        self.followers[run_id] = asyncio.create_task(_collect(self.api, run_id))
        return run_id

    @override
    async def violations(self) -> list[str]:
        """What is wrong with the runs and with what was seen of them, once every one is over."""
        wrong = await super().violations()
        for follower in self.followers.values():
            async with asyncio.timeout(REST_SECONDS):
                wrong += follower_violations(await follower)
        return wrong


async def _collect(api: str, run_id: UUID) -> list[Mapping[str, Any]]:
    got: list[Mapping[str, Any]] = []
    async for event in follow(api, run_id, until_final=True, reconnect=_PATIENT):
        assert not isinstance(event, Reset)
        got.append(event)
    return got


@asynccontextmanager
async def scene(database_url: str, place: Path) -> AsyncGenerator[Scene]:
    """Set a scene; every process that was started has ended when the block is left."""
    crew, faults, plan = plan_faults(database_url, place)
    async with AsyncExitStack() as stack:
        cases = await stack.enter_async_context(use_cases(database_url, place / "api"))
        service = await stack.enter_async_context(serving(database_url))
        made = Scene(
            sessions=cases.sessions,
            sprints=cases.sprints,
            crew=crew,
            faults=faults,
            plan=plan,
            cases=cases,
            api=service.http,
        )
        try:
            yield made
        finally:
            await asyncio.to_thread(crew.stop)
            for each in made.followers.values():
                each.cancel()
            if made.followers:
                await asyncio.wait(made.followers.values())
