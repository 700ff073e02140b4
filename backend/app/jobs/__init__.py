"""The adapter to the job queue in Postgres."""
