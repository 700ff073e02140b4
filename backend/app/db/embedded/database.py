"""The one database on the server; being able to connect to it is what makes a server usable."""

import psycopg

from app.core.errors import DatabaseSetupError
from app.db.embedded.cluster import DATABASE, Cluster, explain

_CONNECT_SECONDS = 10


def ensure_database(cluster: Cluster, port: int) -> bool:
    """Make the database unless it is there.

    Returns:
        False when the server takes no connections, because it starts, stops or was killed this moment.

    Raises:
        DatabaseSetupError: the server refuses.
    """
    try:
        with psycopg.connect(
            cluster.url(port, "postgres"),
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            # Said here, because variables such as PGHOSTADDR and PGSSLMODE would be heard otherwise.
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
    # What a statement fails with has a code; what a connection fails with has only a text.
    said = str(error)
    return error.sqlstate is not None or ("FATAL" in said and "the database system is" not in said)
