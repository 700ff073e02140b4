"""The front door of answers: at most two retries, each told what was wrong, and nothing unjudged goes out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from app.runners.answer.synthesizer import Synthesis, SynthesisTask, SynthesizerAgent
from app.runners.evaluators.models.response_verdict import conclude
from app.runners.evaluators.response_evaluator import EvaluatorAgent, ResponseJudgement, should_retry
from app.runners.response_retry import AnswerOutcome, AnswerStatus, ResponseRetry
from app.schemas.response_evaluation import (
    DIMENSIONS,
    Analysis,
    EvaluationDimension,
    EvaluatorInput,
    Verdict,
)

pytestmark = pytest.mark.anyio

OUT = "the model is out"
GOOD: tuple[str, ...] = ()


@dataclass
class Writer:
    """Writes numbered answers; from attempt `out` on it has no model."""

    out: int = 99
    tasks: list[SynthesisTask] = field(default_factory=list)

    async def synthesize(self, task: SynthesisTask) -> Synthesis:
        self.tasks.append(task)
        if task.attempt_number >= self.out:
            return Synthesis(None, reasons=(OUT,))
        return Synthesis(f"answer {task.attempt_number}", Analysis(gaps=[f"gap {task.attempt_number}"]))


@dataclass
class Judge:
    """Fails the dimensions that its script names, attempt by attempt; None is an outage."""

    script: Sequence[Sequence[str] | None]
    lacks_data: bool = False
    seen: list[EvaluatorInput] = field(default_factory=list)

    async def judge(self, given: EvaluatorInput) -> ResponseJudgement:
        self.seen.append(given)
        failing = self.script[given.attempt_number - 1]
        if failing is None:
            return ResponseJudgement(None, "fake", (OUT,))
        dimensions = [
            EvaluationDimension(
                dimension=name,
                verdict=Verdict.INSUFFICIENT if name in failing else Verdict.SUFFICIENT,
                reasoning="because",
                issues=[f"{name} {given.attempt_number}"] if name in failing else [],
            )
            for name in DIMENSIONS
        ]
        return ResponseJudgement(
            conclude(dimensions, [], given.attempt_number, lacks_data=self.lacks_data), "fake"
        )


@dataclass
class Shelf:
    """Gives one more entry each time, and one that is known."""

    asked: list[tuple[str, ...]] = field(default_factory=list)

    async def more(self, query: str, gaps: Sequence[str], known: Sequence[str]) -> Sequence[str]:
        self.asked.append(tuple(gaps))
        return [known[0], f"more {len(self.asked)}", " "]


async def answer(writer: Writer, judge: Judge, shelf: Shelf | None = None, **options: Any) -> AnswerOutcome:
    door = ResponseRetry(synthesizer=writer, evaluator=judge, evidence=shelf, **options)
    return await door.answer("Why?", ["entry"], ["Be kind."])


@pytest.mark.parametrize(
    ("script", "status", "text", "attempts"),
    [
        pytest.param([GOOD], AnswerStatus.ACCEPTED, "answer 1", 1, id="at once"),
        pytest.param([["accuracy"], GOOD], AnswerStatus.ACCEPTED, "answer 2", 2, id="after one retry"),
        pytest.param([["safety"], ["safety"], GOOD], AnswerStatus.ACCEPTED, "answer 3", 3, id="after two"),
        pytest.param([["accuracy"]] * 3, AnswerStatus.PARTIAL, "answer 3", 3, id="never"),
        pytest.param(
            [["accuracy"], ["accuracy", "relevance"], ["accuracy", "completeness"]],
            AnswerStatus.PARTIAL,
            "answer 1",
            3,
            id="the best one is the first",
        ),
        pytest.param(
            [["accuracy", "relevance"], ["safety"], ["safety"]],
            AnswerStatus.PARTIAL,
            "answer 1",
            3,
            id="one that is not safe is not the best",
        ),
        pytest.param([["safety"]] * 3, AnswerStatus.PARTIAL, None, 3, id="none is safe"),
        pytest.param([None], AnswerStatus.UNAVAILABLE, None, 1, id="the judge is out"),
        pytest.param([["relevance"], None], AnswerStatus.UNAVAILABLE, "answer 1", 2, id="out on the retry"),
    ],
)
async def test_how_questions_end(
    script: list[Sequence[str] | None], status: AnswerStatus, text: str | None, attempts: int
) -> None:
    outcome = await answer(Writer(), Judge(script))
    assert (outcome.status, outcome.answer, len(outcome.attempts)) == (status, text, attempts)
    assert bool(outcome.reason) is (status is not AnswerStatus.ACCEPTED)


async def test_a_partial_answer_names_its_gaps() -> None:
    outcome = await answer(Writer(), Judge([["accuracy"]] * 3))
    assert outcome.gaps == ("accuracy 3", "gap 3")
    assert outcome.reason == "3 attempts were not good enough in: accuracy"
    assert not outcome.withheld


async def test_an_answer_that_is_never_safe_is_withheld_with_its_gaps() -> None:
    outcome = await answer(Writer(), Judge([["safety"]] * 3))
    assert outcome.withheld
    assert outcome.gaps == ("safety 3", "gap 3")


async def test_a_retry_is_told_what_was_wrong() -> None:
    writer, judge = Writer(), Judge([["accuracy"], ["relevance"], GOOD])
    await answer(writer, judge)
    assert [[each.issue for each in task.feedback] for task in writer.tasks] == [
        [],
        ["accuracy 1"],
        ["relevance 2"],
    ]
    assert [task.previous_answer for task in writer.tasks] == ["", "answer 1", "answer 2"]
    assert [len(each.previous_feedback) for each in judge.seen] == [0, 1, 1]
    assert all("Be kind." in each.evaluation_rules for each in judge.seen)


async def test_more_evidence_is_fetched_only_when_that_is_recommended() -> None:
    shelf, writer = Shelf(), Writer()
    await answer(writer, Judge([["accuracy"], ["relevance"], GOOD], lacks_data=True), shelf)
    assert shelf.asked == [("accuracy 1", "gap 1")]
    assert [len(task.entries) for task in writer.tasks] == [1, 2, 2]
    untouched = Shelf()
    await answer(Writer(), Judge([["accuracy"], GOOD]), untouched)
    assert untouched.asked == []


async def test_an_outage_of_the_writer_keeps_what_was_judged() -> None:
    outcome = await answer(Writer(out=2), Judge([["relevance"]] * 3))
    assert (outcome.status, outcome.answer, outcome.reason) == (AnswerStatus.UNAVAILABLE, "answer 1", OUT)
    assert len(outcome.attempts) == 2
    nothing = await answer(Writer(out=1), Judge([GOOD]))
    assert (nothing.status, nothing.answer, nothing.gaps) == (AnswerStatus.UNAVAILABLE, None, ())


async def test_no_evidence_is_said_to_the_judge() -> None:
    judge = Judge([GOOD])
    await ResponseRetry(synthesizer=Writer(), evaluator=judge).answer("Why?", [" "])
    assert judge.seen[0].entries_summary == "No entries were found."


async def test_a_blank_question_is_refused() -> None:
    with pytest.raises(ValueError, match="query"):
        await ResponseRetry(synthesizer=Writer(), evaluator=Judge([])).answer(" ", ["entry"])


FAILURES = st.lists(st.sampled_from(DIMENSIONS), unique=True)


@given(st.integers(0, 4), st.data())
def test_every_question_ends_within_its_attempts(retries: int, data: st.DataObject) -> None:
    script = data.draw(st.lists(st.none() | FAILURES, min_size=retries + 1, max_size=retries + 1))
    judge = Judge(script)

    async def run() -> AnswerOutcome:
        return await answer(Writer(), judge, max_retries=retries)

    outcome = anyio.run(run)
    assert [each.number for each in outcome.attempts] == list(range(1, len(outcome.attempts) + 1))
    assert len(outcome.attempts) <= retries + 1
    last = outcome.attempts[-1].output
    assert (outcome.status is AnswerStatus.ACCEPTED) is (last is not None and not script[len(judge.seen) - 1])
    assert (outcome.status is AnswerStatus.UNAVAILABLE) is (last is None)
    # The loop goes on exactly where the documented helper says so.
    for each in outcome.attempts:
        if each.output is not None:
            again = should_retry(each.output, each.number, retries + 1)
            assert again is (each.number < len(outcome.attempts))
    # What is delivered was judged, and safe.
    delivered = [each for each in outcome.attempts if each.synthesis.answer == outcome.answer]
    assert all(each.output and "safety" not in _failed(each.output) for each in delivered)


def _failed(output: Any) -> list[str]:
    return [each.dimension for each in output.dimensions if each.verdict is not Verdict.SUFFICIENT]


async def test_two_models_answer_and_judge() -> None:
    prompts: list[str] = []

    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompts.extend(str(part.content) for part in messages[0].parts if isinstance(part, UserPromptPart))
        text = "In May 2030." if "Fix every point" in prompts[-1] else "Soon."
        written = {"analysis": {"summary": "a lease", "findings": [], "gaps": []}, "answer": text}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, written)])

    def judge(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        good = "In May 2030." in str(messages[0].parts)
        dimensions = [
            {"dimension": name, "reasoning": "so", "sufficient": good, "issues": [] if good else ["no date"]}
            for name in DIMENSIONS
        ]
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"dimensions": dimensions})])

    door = ResponseRetry(
        synthesizer=SynthesizerAgent(model=FunctionModel(write)),
        evaluator=EvaluatorAgent(model=FunctionModel(judge)),
    )
    outcome = await door.answer("When does the lease end?", ["Lease: until 31 May 2030."])
    assert (outcome.status, outcome.answer) == (AnswerStatus.ACCEPTED, "In May 2030.")
    assert "no date" not in prompts[0]
    assert "no date" in prompts[1]
    assert "| Soon." in prompts[1]
