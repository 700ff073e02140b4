"""What every request passes: access checks, problem details, idempotency, and the OpenAPI document."""
