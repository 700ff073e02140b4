"""Distinguishes histories of events: an event's number has a meaning only within its history.

A restored dump, a promoted standby or another database may hold the same run with other events under the same
numbers. The *epoch* is a fingerprint of the place of the events table. It is computed and not stored, because
a stored value would be restored with the rest.
"""

import asyncpg

# A restored dump gets another table, database or cluster. A promoted standby and a restore to a point in time
# start a new timeline of the write-ahead log.
_FULL = """md5(concat_ws('/',
    (SELECT system_identifier FROM pg_control_system()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    to_regclass('events')::oid, left(pg_walfile_name(pg_current_wal_lsn()), 8)))"""
_NARROW = """md5(concat_ws('/',
    (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('events')::oid))"""
_NOT_OFFERED = (
    asyncpg.InsufficientPrivilegeError,
    asyncpg.FeatureNotSupportedError,
    asyncpg.ObjectNotInPrerequisiteStateError,
    asyncpg.UndefinedFunctionError,
)


async def epoch_expression(pool: "asyncpg.Pool[asyncpg.Record]") -> str:
    """Return the SQL of the epoch that this server can compute; managed servers may hide parts of it."""
    try:
        await pool.fetchval(f"SELECT {_FULL}")
    except _NOT_OFFERED:
        return _NARROW
    return _FULL
