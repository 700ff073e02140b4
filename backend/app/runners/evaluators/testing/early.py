"""Starts what needs no results of the tests as soon as they run."""

from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from app.runners.evaluators.testing.away import Away
from app.runners.evaluators.testing.counter_tests.asking import ReadTests, read_tests
from app.runners.evaluators.testing.gate_settings import PytestGateSettings
from app.runners.evaluators.testing.layout.trees import Layout
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.source_questions.asking import SourceQuestions, read_source
from app.runners.evaluators.testing.source_questions.changed_code import steps_to_changes
from app.runners.evaluators.testing.source_questions.new_source import NewSource
from app.schemas.questions import ProtectedPolicy
from app.workspaces.together import meanwhile


@dataclass(frozen=True, slots=True)
class Early:
    """What goes on beside the tests.

    Attributes:
        away: the run away from the candidate's code.
        questions: about the candidate's source.
        tests: what counter-tests need to read.
    """

    away: Away
    questions: SourceQuestions
    tests: Awaitable[ReadTests]


@asynccontextmanager
async def started_early(
    harness: Harness, layout: Layout, source: NewSource, gate: PytestGateSettings, protected: ProtectedPolicy
) -> AsyncGenerator[Early]:
    """Start it. What still goes on at the end of the block is ended.

    Args:
        harness: how the tests run.
        layout: the runs.
        source: what the candidate changed.
        gate: what is wanted.
        protected: with *note*, nothing is asked.
    """
    distances = partial(steps_to_changes, source)
    async with (
        Away.beside(harness, layout, wanted=gate.outside) as away,
        meanwhile(read_source(source, protected, harness.started)) as questions,
        meanwhile(read_tests(layout, gate.counter_tests, harness.started, distances)) as tests,
    ):
        yield Early(away, questions, tests)
