"""What every request meets: access checks, problem details, idempotency and the OpenAPI document."""
