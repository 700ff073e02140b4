"""Install the job queue's schema, as its pinned version ships it.

Its newer versions come with migrations of their own; each becomes a migration here that runs that file.
"""

from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy import text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_DROP = """
DO $$
DECLARE target record;
BEGIN
    DROP TABLE IF EXISTS procrastinate_events, procrastinate_periodic_defers, procrastinate_jobs,
        procrastinate_workers CASCADE;
    FOR target IN
        SELECT oid::regprocedure AS signature FROM pg_proc
        WHERE proname LIKE 'procrastinate\\_%' AND pronamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', target.signature);
    END LOOP;
    DROP TYPE IF EXISTS procrastinate_job_to_defer_v1, procrastinate_job_event_type, procrastinate_job_status;
END
$$
"""


def upgrade() -> None:
    schema = SchemaManager.get_schema()
    # Many statements in one string: only the driver's simple query protocol takes that.
    op.get_bind().connection.dbapi_connection.run_async(lambda driver: driver.execute(schema))


def downgrade() -> None:
    op.execute(text(_DROP))
