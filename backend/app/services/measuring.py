"""Begins a transaction that measures many runs: it sees one moment, writes nothing, and may use memory."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# Sorting and hashing 100,000 runs fits in it, where the default writes files. Compiling the expressions takes
# longer than they do.
_ROOM = text("SELECT set_config('work_mem', '64MB', true), set_config('jit', 'off', true)")


async def begin_measuring(session: AsyncSession) -> None:
    """Begin it: numbers of one report must agree with each other."""
    await session.connection(
        execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    )
    await session.execute(_ROOM)
