"""Tells a database that is away or overloaded from a defect of ours."""

import socket

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

# SQLSTATE classes: connection, insufficient resources, operator intervention (shutting or starting up).
_OUTAGE_CLASSES = ("08", "53", "57")


def is_outage(error: BaseException) -> bool:
    """True when the same request may succeed as soon as the database is back."""
    match error:
        case DBAPIError():
            broken = error.connection_invalidated or isinstance(error, InterfaceError | OperationalError)
            return broken or _is_outage_state(getattr(error.orig, "sqlstate", None))
        case asyncpg.PostgresError():
            return _is_outage_state(error.sqlstate)
        case asyncpg.InterfaceError() | NoConnectionError():
            return True
        case _:
            # Files that cannot be read or written are OSErrors too, and no outage.
            return isinstance(error, ConnectionError | TimeoutError | socket.gaierror)


def _is_outage_state(state: object) -> bool:
    return isinstance(state, str) and state.startswith(_OUTAGE_CLASSES)
