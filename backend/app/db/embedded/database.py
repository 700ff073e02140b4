"""The database on the server; the server is usable once this database accepts connections."""

import psycopg

from app.core.errors import DatabaseSetupError
from app.db.embedded.cluster import DATABASE, Cluster, explain

_CONNECT_SECONDS = 10


def ensure_database(cluster: Cluster, port: int) -> bool:
    """Create the database unless it exists.

    Returns:
        False if the server takes no connections, because it is starting or stopping or was just killed.

    Raises:
        DatabaseSetupError: the server refuses.
    """
    try:
        with psycopg.connect(
            cluster.url(port, "postgres"),
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            # Set explicitly, because variables such as PGHOSTADDR and PGSSLMODE would otherwise apply.
            hostaddr="127.0.0.1",
            sslmode="disable",
            gssencmode="disable",
            options="",
        ) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if found is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.Error as error:
        if _is_refusal(error):
            raise DatabaseSetupError(
                f"the server in {cluster.home} runs but cannot be used: {explain(str(error))}; "
                f"see {cluster.log}"
            ) from error
        return False
    return True


def _is_refusal(error: psycopg.Error) -> bool:
    # Failed statements have an error code; failed connections have only a text.
    said = str(error)
    return error.sqlstate is not None or ("FATAL" in said and "the database system is" not in said)
