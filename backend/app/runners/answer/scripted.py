"""A synthesizer and an evaluator that replay a script and name the script as their source."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from app.runners.answer.synthesizer import Synthesis, SynthesisTask
from app.runners.evaluators.models.response_verdict import MAX_RETRIES, conclude
from app.runners.evaluators.response_evaluator import ResponseJudgement
from app.schemas.agent_script import AgentScript, ScriptedRole, ScriptStep
from app.schemas.response_evaluation import (
    DIMENSIONS,
    Analysis,
    DimensionName,
    EvaluationDimension,
    EvaluatorInput,
    Verdict,
)

SCRIPTED = "scripted (no model)"


class _Notes(BaseModel):
    """The structured fields of a script's step, besides its text.

    Attributes:
        gaps: for the synthesizer: what the evidence does not contain.
        insufficient: for the evaluator: the dimensions that fail, each with its issue.
        lacks_data: for the evaluator: true if the accuracy fails because evidence is missing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    gaps: list[str] = []
    insufficient: dict[DimensionName, str] = {}
    lacks_data: bool = False


@dataclass(frozen=True, slots=True)
class ScriptedSynthesizer:
    """A synthesizer that writes the text which its script has for the attempt."""

    script: AgentScript

    async def synthesize(self, task: SynthesisTask) -> Synthesis:
        """Return the text of the attempt's step. Without such a step, return trouble."""
        feedback = [f"{each.issue} {each.suggestion}" for each in task.feedback]
        told = "\n".join([task.query, *task.entries, *feedback, *task.guidance])
        step = self.script.spoken(ScriptedRole.SYNTHESIZER, task.attempt_number, told)
        notes = _notes(self.script, ScriptedRole.SYNTHESIZER, step)
        if step is None or isinstance(notes, str):
            return Synthesis(None, model=SCRIPTED, reasons=(str(notes),))
        return Synthesis(step.say, Analysis(summary=step.say[:500], gaps=notes.gaps), SCRIPTED)


@dataclass(frozen=True, slots=True)
class ScriptedResponseEvaluator:
    """An evaluator that takes the result of each dimension from its script.

    The rest of the judgement is computed as for a model.
    """

    script: AgentScript
    max_retries: int = MAX_RETRIES

    async def judge(self, given: EvaluatorInput) -> ResponseJudgement:
        """Judge by the attempt's step. Without such a step, return trouble."""
        told = "\n".join([given.query, given.response, given.entries_summary])
        step = self.script.spoken(ScriptedRole.EVALUATOR, given.attempt_number, told)
        notes = _notes(self.script, ScriptedRole.EVALUATOR, step)
        if step is None or isinstance(notes, str):
            return ResponseJudgement(None, SCRIPTED, (str(notes),))
        dimensions = [
            EvaluationDimension(
                dimension=each,
                verdict=Verdict.INSUFFICIENT if each in notes.insufficient else Verdict.SUFFICIENT,
                reasoning=step.say,
                issues=[notes.insufficient[each]] if each in notes.insufficient else [],
            )
            for each in DIMENSIONS
        ]
        attempt = given.attempt_number
        output = conclude(dimensions, (), attempt, self.max_retries, lacks_data=notes.lacks_data)
        return ResponseJudgement(output, SCRIPTED)


def _notes(script: AgentScript, role: ScriptedRole, step: ScriptStep | None) -> _Notes | str:
    """Read the structured fields of a step. Return the reason as text if they cannot be used."""
    if step is None:
        return f"the script {script.title!r} has nothing for the {role.value} to say here"
    try:
        return _Notes.model_validate(step.notes)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        of_whom = f"the script {script.title!r} has notes of the {role.value}"
        return f"{of_whom} that say nothing: {place}: {fault['msg']}"
