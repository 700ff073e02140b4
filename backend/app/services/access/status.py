"""Reports what this service is and whether it can work."""

import asyncio
from dataclasses import dataclass, field

from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.db.engine import Sessions
from app.db.migrate import newest_revision
from app.realtime.reader import DATABASE_ERRORS
from app.workspaces.confine.sandbox import Sandbox

_TIMEOUT_SECONDS = 3.0
_WORKERS = text(
    "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - interval '30 seconds'"
)


class Check(BaseModel):
    """One condition that the service needs to work."""

    name: str
    ok: bool
    detail: str


class Readiness(BaseModel):
    """Whether requests can be served."""

    ready: bool
    checks: list[Check]


class Info(BaseModel):
    """What this service is."""

    version: str
    default_agent: str
    default_agent_ready: bool
    evaluator_model: str
    max_attempts: int


@dataclass(frozen=True, slots=True)
class StatusService:
    """Checks the service; `info` never changes while it runs."""

    sessions: Sessions
    info: Info
    sandbox: Sandbox
    newest_schema: str = field(default_factory=newest_revision)

    async def readiness(self) -> Readiness:
        """Query the database and report whether requests can be served.

        Workers and the sandbox are shown but do not count, because they may be on other machines.
        """
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS), self.sessions() as session:
                schema = await session.scalar(text("SELECT version_num FROM alembic_version"))
                workers = await session.scalar(_WORKERS) or 0
        except (SQLAlchemyError, *DATABASE_ERRORS) as error:
            reason = f"cannot be reached: {type(error).__name__}"
            return Readiness(ready=False, checks=[Check(name="database", ok=False, detail=reason)])
        sandbox = await self.sandbox.state()
        seen = f"{workers} alive" if workers else "none was seen within 30 seconds; sprints wait"
        is_newest = schema == self.newest_schema
        known = (
            f"schema {schema}" if is_newest else f"schema {schema}; this version needs {self.newest_schema}"
        )
        return Readiness(
            ready=is_newest,
            checks=[
                Check(name="database", ok=is_newest, detail=known),
                Check(name="workers", ok=workers > 0, detail=seen),
                Check(name="sandbox", ok=sandbox.confined, detail=sandbox.detail),
            ],
        )
