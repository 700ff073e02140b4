"""How long tests wait for what must happen: long enough for a machine that does twenty other things."""

PATIENCE = 300.0
"""Seconds. A test that passes never waits so long; one that fails says so in the end."""

UNHURRIED = {"EVALUATOR_LINT_TIMEOUT": str(PATIENCE), "EVALUATOR_TEST_TIMEOUT": str(PATIENCE)}
"""Settings for services of tests that are not about the time limits of evaluators."""
