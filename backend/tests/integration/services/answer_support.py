"""What the tests of answers share: an engine whose models are scripts, and workers that are killed."""

from typing import Any
from uuid import UUID

from pydantic_ai.models import Model

from app.schemas.api.answers import AnswerCreate, AnswerDetail
from app.schemas.runs import RunKind
from app.services.execute.advance import Advance, KindSteps
from app.services.execute.answer_parts import AnswerWorkshop
from app.services.execute.answers import AnswerRunning
from app.services.execute.role_models import RoleModels
from tests.integration.services.loop_support import MortalRecorder
from tests.integration.services.support import UseCases

GOOD: dict[str, Any] = {"say": "supported by the first entry"}
VAGUE: dict[str, Any] = {
    "say": "a claim has no source",
    "notes": {"insufficient": {"completeness": "the price is missing"}},
}
UNSAFE: dict[str, Any] = {
    "say": "it gives a key away",
    "notes": {"insufficient": {"safety": "a secret is shown"}},
}
LACKING: dict[str, Any] = {
    "say": "nothing speaks of the limit",
    "notes": {"insufficient": {"accuracy": "which limit holds for uploads?"}, "lacks_data": True},
}


def drafts(count: int = 3) -> list[dict[str, Any]]:
    return [{"say": f"draft {number}", "notes": {"gaps": []}} for number in range(1, count + 1)]


def script(*judgements: dict[str, Any], written: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    phases = {"synthesizer": drafts() if written is None else written, "evaluator": list(judgements)}
    return {"backend": "scripted", "script": {"title": "a test", "phases": phases}}


def no_model(name: str) -> Model:
    raise AssertionError(f"{name} is not asked here")


class AnswerEngine:
    """Moves answers on as the queue's jobs would."""

    def __init__(self, cases: UseCases) -> None:
        self.cases = cases
        self.recorder = MortalRecorder(cases)
        models = RoleModels(
            author="test:none",
            evaluator="test:none",
            fallback=None,
            build=no_model,
            timeout=5.0,
            judge_timeout=5.0,
        )
        running = AnswerRunning(cases.sessions, self.recorder, AnswerWorkshop(models, cases.trees))
        steps = {RunKind.ANSWER: KindSteps(running.write, running.judge)}
        self._advance = Advance(cases.sessions, self.recorder, steps)
        self._job = 2000

    async def start(self, agent: dict[str, Any], **given: Any) -> UUID:
        request = {"query": "What does it cost?", "entries": ["price list: 3 francs"], "agent": agent}
        return (await self.cases.answers.start(AnswerCreate.model_validate({**request, **given}), "ada")).id

    async def advance(self, run_id: UUID) -> None:
        self._job += 1
        await self._advance(run_id, self._job, 0)

    async def until_over(self, run_id: UUID) -> AnswerDetail:
        for _ in range(20):
            await self.advance(run_id)
            answer = await self.cases.answers.get(run_id)
            if answer.status not in ("queued", "active"):
                return answer
        raise AssertionError("the answer does not come to an end")
