"""Postgres: engine, tables, queries and the embedded server."""
