"""A model argues; the verdict is ours, and trouble with a model is no verdict."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai import models
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from app.runners.evaluators.llm_evaluator import (
    CompletenessEvaluator,
    LLMCodeQualityEvaluator,
    ModelEvaluator,
    PerformanceEvaluator,
    SecurityEvaluator,
)
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, Evaluator

pytestmark = pytest.mark.anyio

CRITERIA = ("correctness", "clarity", "completeness", "best practices")


@pytest.fixture(autouse=True)
def no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)


def assessment(
    *scores: float, names: Sequence[str] = CRITERIA, blocking: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "criteria": [
            {"criterion": name, "reasoning": f"{name} because", "score": score}
            for name, score in zip(names, scores, strict=True)
        ],
        "overall_assessment": "all in all",
        "suggestions": ["be brief"],
        "blocking_issues": list(blocking),
    }


class Script:
    """A model that answers by a list and remembers what it was shown."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []
        self.instructions = ""
        self.told = ""

    @staticmethod
    def parts(answer: Any, tool: str) -> list[Any]:
        """An answer's parts: arguments of the call that is wanted, some other part, or nothing."""
        if answer is None:
            return []
        return [ToolCallPart(tool, answer) if isinstance(answer, dict | str) else answer]

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.prompts = [
            str(part.content) for each in messages for part in each.parts if isinstance(part, UserPromptPart)
        ]
        self.instructions = info.instructions or ""
        self.told = str(messages[-1].parts)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelResponse):
            return answer
        return ModelResponse(parts=self.parts(answer, info.output_tools[0].name), finish_reason="tool_call")


async def ask(script: Script, output: str = "done", context: EvaluationContext | None = None, **options: Any):
    evaluator = LLMCodeQualityEvaluator(model=FunctionModel(script), **options)
    return await evaluator.evaluate("coding", output, context or {})


@pytest.mark.parametrize(
    ("answer", "passed", "score"),
    [
        pytest.param(assessment(1, 1, 1, 1), True, 1.0, id="perfect"),
        pytest.param(assessment(0.7, 0.7, 0.7, 0.7), True, 0.7, id="just enough"),
        pytest.param(assessment(0.6, 0.7, 0.7, 0.7), False, 0.675, id="just not"),
        pytest.param(assessment(1, 1, 1, 0.6), True, 0.9, id="one weak criterion"),
        pytest.param(assessment(1, 1, 1, 0.4), False, 0.85, id="one blocking criterion"),
        pytest.param(assessment(1, 1, 1, 1, blocking=["deletes data"]), False, 1.0, id="a blocking issue"),
    ],
)
async def test_the_verdict_is_computed(answer: dict[str, Any], passed: bool, score: float) -> None:
    result = await ask(Script(answer))
    assert result.passed is passed
    assert result.score == pytest.approx(score)
    assert [each.criterion for each in result.criteria[:4]] == list(CRITERIA)
    assert result.feedback == "all in all"


async def test_blocking_issues_are_shown_first() -> None:
    result = await ask(Script(assessment(1, 1, 1, 1, blocking=["deletes data"])))
    assert result.blocking_issues == ["deletes data"]
    assert result.suggestions == ["deletes data", "be brief"]


async def test_usage_is_reported_and_an_unknown_cost_is_not_zero() -> None:
    usage = (await ask(Script(assessment(1, 1, 1, 1)))).metadata["usage"]
    assert usage["requests"] == 1
    assert usage["input_tokens"] > 0
    assert usage["cost_usd"] is None


TOO_FEW = assessment(1, 1, names=CRITERIA[:2])
SAID = TextPart('I cannot help with that. {"criteria": [], "passed": true, "score": 1.0}')


def changed(**fields: Any) -> dict[str, Any]:
    """A perfect answer, but for some fields of its first criterion."""
    answer = assessment(1, 1, 1, 1)
    answer["criteria"][0] |= fields
    return answer


@pytest.mark.parametrize(
    ("invalid", "reason"),
    [
        pytest.param({"criteria": "good"}, "criteria: Input should be a valid list", id="wrong structure"),
        pytest.param(changed(score=7), "less than or equal to 1", id="score out of range"),
        pytest.param(changed(score="1.0"), "criteria.0.score: Input should be a valid number", id="a string"),
        pytest.param(
            '{"criteria": [{"criterion": "clarity", "reasoning": "r", "score": NaN}]}', "", id="NaN"
        ),
        pytest.param(changed(score=None), "every criterion a score", id="no score"),
        pytest.param(changed(reasoning=" "), "criteria.0.reasoning", id="empty reasoning"),
        pytest.param(changed(passed=True), "Extra inputs", id="a further field"),
        pytest.param(assessment(1, 1, 1, 1) | {"passed": True}, "passed: Extra inputs", id="its own verdict"),
        pytest.param(TOO_FEW, "each of these criteria exactly once", id="criteria missing"),
        pytest.param(assessment(1, 1, 1, 1, names=["clarity"] * 4), "exactly once", id="criteria repeated"),
        pytest.param(SAID, "none of 2 answers", id="words and JSON in words"),
        pytest.param(ToolCallPart("write_file", {"path": "a"}), "none of 2 answers", id="another tool"),
        pytest.param(None, "none of 2 answers", id="nothing"),
        pytest.param(TextPart(""), "none of 2 answers", id="empty words"),
        pytest.param('{"criteria": [', "none of 2 answers", id="torn JSON"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_asked_for_once_more(invalid: Any, reason: str) -> None:
    script = Script(invalid, assessment(1, 1, 1, 1))
    result = await ask(script)
    assert result.status == "passed"
    assert result.metadata["usage"]["requests"] == 2
    script = Script(invalid, invalid, assessment(1, 1, 1, 1))
    result = await ask(script)
    assert result.status == "errored"
    assert len(script.answers) == 1
    assert "its answer cannot be used" in result.feedback
    if reason != "none of 2 answers":
        assert reason in result.feedback
    # What an answer that is no use cost counts all the same.
    assert result.metadata["usage"]["requests"] == 2
    assert result.metadata["usage"]["input_tokens"] > 0


async def test_the_reason_is_told_and_a_third_answer_is_not_waited_for() -> None:
    script = Script(ToolCallPart("write_file", {}), changed(score=7), assessment(1, 1, 1, 1))
    result = await ask(script)
    assert result.status == "errored"
    script = Script(TOO_FEW, assessment(1, 1, 1, 1))
    assert (await ask(script)).status == "passed"
    assert "each of these criteria exactly once" in script.told


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ModelHTTPError(429, "m", None), id="rate limit"),
        pytest.param(ModelHTTPError(500, "m", None), id="server error"),
    ],
)
async def test_an_outage_is_no_verdict(error: Exception) -> None:
    assert (await ask(Script(error))).status == "errored"


@pytest.mark.parametrize("reason", ["length", "content_filter", "error"])
@pytest.mark.parametrize(
    "said", [assessment(1, 1, 1, 1), None, '{"criteria": ['], ids=["all", "none", "torn"]
)
async def test_an_answer_cut_short_is_asked_for_once_more_and_then_no_verdict(said: Any, reason: str) -> None:
    cut = ModelResponse(parts=Script.parts(said, "final_result"), finish_reason=reason)  # pyright: ignore[reportArgumentType]
    assert (await ask(Script(cut, assessment(1, 1, 1, 1)))).status == "passed"
    result = await ask(Script(cut, cut, assessment(1, 1, 1, 1)))
    assert result.status == "errored"
    assert result.metadata["usage"]["requests"] == 2
    assert "body" not in result.feedback


async def test_out_of_time_is_no_verdict() -> None:
    async def never(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.Event().wait()
        raise AssertionError

    evaluator = LLMCodeQualityEvaluator(model=FunctionModel(never), timeout=0.05)
    result = await evaluator.evaluate("coding", "", {})
    assert result.status == "errored"
    told = "the time limit is reached (evaluator llm_code_quality, EVALUATOR_LLM_TIMEOUT)"
    assert result.feedback.endswith(told)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        pytest.param("anthropic:claude-sonnet-4-20250514", "ANTHROPIC_API_KEY", id="no key"),
        pytest.param("nobody:nothing", "Unknown model", id="unknown provider"),
        pytest.param("nonsense", "Unknown model", id="no provider"),
    ],
)
async def test_a_model_that_cannot_be_used_says_why(
    model: str, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    result = await LLMCodeQualityEvaluator(model=model).evaluate("coding", "", {})
    assert result.status == "errored"
    assert names in result.feedback


async def test_what_the_model_is_shown(context) -> None:
    made = context(
        {"a.py": "x = 2\n", "implementation_plan.md": "the plan", "logo.png": b"\x89\0", "uv.lock": "new"},
        {"a.py": "x = 1\n", "uv.lock": "old"},
    )
    made |= {"goal": "count to two", "previous_feedback": ["x was wrong"]}
    script = Script(assessment(1, 1, 1, 1))
    result = await ask(script, "I did it", made)
    prompt = script.prompts[0]
    for text in ("count to two", "the plan", "x was wrong", "I did it", "| -x = 1\n| +x = 2", "logo.png"):
        assert text in prompt
    assert result.metadata["not_shown"] == ["logo.png", "uv.lock"]


async def test_large_changes_are_cut_and_named(context) -> None:
    script = Script(assessment(1, 1, 1, 1))
    result = await ask(script, context=context({f"f{n}.txt": "x" * 30_000 for n in range(9)}))
    assert len(script.prompts[0]) < 100_000
    assert len(result.metadata["not_shown"]) == 9


async def test_a_missing_workspace_is_no_verdict() -> None:
    result = await ask(Script(), context={"workspace_ref": "/no/such/place"})
    assert result.status == "errored"


@pytest.mark.parametrize(
    ("evaluator", "name", "category"),
    [
        (LLMCodeQualityEvaluator(), "llm_code_quality", EvaluationCategory.MAINTAINABILITY),
        (CompletenessEvaluator(), "completeness", EvaluationCategory.COMPLETENESS),
        (SecurityEvaluator(), "security", EvaluationCategory.SECURITY),
        (PerformanceEvaluator(), "performance", EvaluationCategory.PERFORMANCE),
    ],
)
async def test_the_kinds(evaluator: ModelEvaluator, name: str, category: EvaluationCategory) -> None:
    assert isinstance(evaluator, Evaluator)
    assert (evaluator.name, evaluator.category, evaluator.is_deterministic) == (name, category, False)
    names = list(evaluator.focus.criteria)
    script = Script(assessment(*[1.0] * len(names), names=names))
    kind = type(evaluator)(model=FunctionModel(script))  # pyright: ignore[reportCallIssue]
    assert (await kind.evaluate("coding", "", {})).status == "passed"
