"""Defaults: one place for each figure, which settings, policy, memory and evaluators agree on."""

import re
from pathlib import Path
from uuid import uuid4

from app.core.config import Settings
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.protocol import BLOCKING_THRESHOLD
from app.runners.evaluators.verdict import VerdictPolicy
from app.schemas import defaults
from app.schemas.evaluation import FeedbackMemorySchema
from app.schemas.runs import RunPolicy

APP = Path(defaults.__file__).parents[1]


def test_everyone_starts_from_the_same_figures() -> None:
    policy, fields = RunPolicy(), Settings.model_fields
    memory = FeedbackMemory(uuid4(), "coding", "goal")
    schema = FeedbackMemorySchema.model_fields["max_attempts"].default
    attempts = {policy.attempts_per_phase, memory.max_attempts, schema, fields["MAX_ATTEMPTS"].default}
    assert attempts == {defaults.MAX_ATTEMPTS}
    passing = {policy.pass_threshold, VerdictPolicy().pass_threshold}
    assert passing | {fields["EVALUATOR_PASS_THRESHOLD"].default} == {defaults.PASS_THRESHOLD}
    blocking = {policy.blocking_threshold, BLOCKING_THRESHOLD, VerdictPolicy().blocking_threshold}
    assert blocking | {fields["EVALUATOR_BLOCKING_THRESHOLD"].default} == {defaults.BLOCKING_THRESHOLD}
    assert fields["EVALUATOR_MODEL"].default == defaults.MODEL


def test_the_model_and_the_thresholds_are_written_once() -> None:
    written = re.compile(
        rf'= "{re.escape(defaults.MODEL)}"|pass_threshold\b.*= ?0\.7\b|blocking_threshold\b.*= ?0\.5\b'
        rf"|max_attempts\b.*= ?{defaults.MAX_ATTEMPTS}\b",
        re.IGNORECASE,
    )
    found = {
        path.relative_to(APP).as_posix() for path in APP.rglob("*.py") if written.search(path.read_text())
    }
    assert found == {"schemas/defaults.py"}
