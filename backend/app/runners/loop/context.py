"""Builds the input of a loop's parts: filled placeholders, inputs from their sources, bounded context."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.runners.loop.roles import ContextFile, RoleTask, ScriptTask
from app.schemas.director_evaluator import (
    SOURCES,
    ContextManagement,
    DirectorEvaluatorLoop,
    RoleDefinition,
    ScriptExecution,
)
from app.schemas.loop.results import LoopIteration

ACCUMULATED_CHARS = 40_000
"""Maximum characters of all earlier iterations together. The latest ones are kept."""

NOTE_CHARS = 2000
OUTPUT_CHARS = 8000
SUBSET_CHARS = 4000
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class LoopInputs:
    """The inputs with which a loop starts.

    Attributes:
        user_query: the user's query, or the definition's description if there is no query.
        values: the inputs of the task, by name.
        inherited: the context from outside the loop, for `inherit_context`.
        goal: the definition's description, with its placeholders filled.
    """

    user_query: str
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    inherited: str = ""
    goal: str = ""

    @property
    def given(self) -> Mapping[str, str]:
        """The inputs that every role sees, and the query if it differs from the goal."""
        asked = {"user_query": self.user_query} if self.user_query not in ("", self.goal) else {}
        return {**asked, **self.values}


def bind(
    definition: DirectorEvaluatorLoop, given: Mapping[str, str], *, query: str = "", inherited: str = ""
) -> LoopInputs:
    """Return the inputs of one loop: those given and the definition's own values.

    Raises:
        ValueError: inputs are missing, or a source is unknown. The message names all of them.
    """
    values = {each.name: each.value for each in definition.inputs if each.value is not None} | dict(given)
    missing = [each.name for each in definition.inputs if each.name not in values]
    texts = [definition.description, definition.director.description, definition.evaluator.description]
    missing += [name for text in texts for name in _PLACEHOLDER.findall(text) if name not in values]
    script = definition.script_execution
    used = [*definition.director.inputs, *definition.evaluator.inputs]
    if script is not None:
        own = {each.name for each in script.inputs}
        missing += [name for name in _PLACEHOLDER.findall(script.command) if name not in values.keys() | own]
        used += script.inputs
    missing += [each.source for each in used if each.source not in SOURCES and each.source not in values]
    if missing:
        raise ValueError(f"these inputs are not given: {', '.join(dict.fromkeys(missing))}")
    goal = fill(definition.description, values)
    return LoopInputs(query or values.get("user_query", "") or goal, values, inherited, goal)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each `{{name}}` with its value. Placeholders inside values are not filled."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


class Retold:
    """Renders finished iterations for later ones, each only once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, str], str] = {}

    def text(self, iteration: LoopIteration, form: str) -> str:
        """Return an iteration of this loop as text, in the given format."""
        key = iteration.iteration, form
        if key not in self._texts:
            self._texts[key] = _iteration_text(iteration, form)
        return self._texts[key]


@dataclass(frozen=True, slots=True)
class Moment:
    """The position of a loop when one of its parts is called. `now` holds only what is done so far."""

    inputs: LoopInputs
    earlier: Sequence[LoopIteration]
    now: LoopIteration
    retold: Retold = field(default_factory=Retold)

    def source(self, name: str) -> str:
        """Return the value of an input's source.

        The loop's own sources take precedence over inputs of that name.
        """
        last = self.earlier[-1] if self.earlier else None
        match name:
            case "user_query":
                return self.inputs.user_query
            case "current_iteration":
                return str(self.now.iteration)
            case "director_result":
                return self.now.output or ""
            case "script_output":
                return _script_text(self.now) or (_script_text(last) if last and not self.now.output else "")
            case "evaluation_feedback":
                return last.evaluation.feedback if last and last.evaluation else ""
            case "previous_results":
                return accumulated(self, "full_output")
            case _:
                return self.inputs.values[name]


def role_task(role: str, definition: RoleDefinition, moment: Moment, context: str) -> RoleTask:
    """Return the task of a director or an evaluator."""
    return RoleTask(
        role=role,
        iteration=moment.now.iteration,
        description=fill(definition.description, moment.inputs.values),
        inputs={each.name: moment.source(each.source) for each in definition.inputs},
        context=context,
        model=definition.model,
        system_prompt=fill(definition.system_prompt, moment.inputs.values)
        if definition.system_prompt
        else None,
        tools=definition.tools,
        evaluators=definition.evaluators,
        output=moment.now.output or "",
        goal=moment.inputs.goal,
        given=moment.inputs.given,
    )


def script_task(script: ScriptExecution, moment: Moment) -> ScriptTask:
    """Return the task of the script.

    Each value fills single words of the command, so no value can add a command.
    """
    own = {each.name: moment.source(each.source) for each in script.inputs}
    values = {**moment.inputs.values, **own}
    words = [fill(word, values) for word in shlex.split(script.command)]
    return ScriptTask(words, own.get("stdin", moment.now.output or ""), script.timeout)


def output_files(definition: DirectorEvaluatorLoop, now: LoopIteration) -> dict[str, str]:
    """Return the workspace file that holds the director's output, by path; empty if there is none."""
    return {definition.output_file: now.output} if definition.output_file and now.output is not None else {}


def context_for(
    loop: ContextManagement, role: ContextManagement, moment: Moment, files: Sequence[ContextFile]
) -> str:
    """Return the context that a role sees besides its inputs.

    The loop's context consists of what it inherits, the files, and earlier iterations if it accumulates them.
    A role sees all of that (`full`), its beginning (`subset`) or none of it. A role that accumulates by
    itself sees the earlier iterations in its own format.
    """
    around = moment.inputs.inherited
    parts = [around if loop.inherit_context == "full" else around[:SUBSET_CHARS] * _some(loop)]
    parts += [f"File {each.path}:\n{each.text}" for each in files]
    own = accumulated(moment, role.accumulation_format) if role.accumulate_data else ""
    if loop.accumulate_data and not own:
        parts.append(accumulated(moment, loop.accumulation_format))
    shared = "\n\n".join(each for each in parts if each)
    seen = shared if role.inherit_context == "full" else shared[:SUBSET_CHARS] * _some(role)
    return "\n\n".join(each for each in (seen, own) if each)


def accumulated(moment: Moment, form: str) -> str:
    """Return the latest earlier iterations that fit, in order, and the number of those left out."""
    told: list[str] = []
    room = ACCUMULATED_CHARS
    for each in reversed(moment.earlier):
        text = moment.retold.text(each, form)
        room -= len(text)
        if room < 0:
            break
        told.append(text)
    left_out = len(moment.earlier) - len(told)
    head = [f"[{left_out} earlier iterations are left out here]"] if left_out else []
    return "\n\n".join([*head, *reversed(told)])


def condition_values(now: LoopIteration) -> dict[str, Any]:
    """Return the values that a termination condition can use, as JSON values."""
    return {
        "iteration": now.iteration,
        "evaluation": now.evaluation.model_dump(mode="json") if now.evaluation else None,
        "director": {"content": now.output, "status": "COMPLETE", "notes": now.notes},
        "script": now.script_output.model_dump(mode="json") if now.script_output else None,
    }


def turns_used(iterations: Sequence[LoopIteration]) -> int:
    """Count the agent calls, those of subtasks included."""
    return sum(each.turns for each in iterations)


def _some(context: ContextManagement) -> int:
    return int(context.inherit_context == "subset")


def _iteration_text(iteration: LoopIteration, form: str) -> str:
    evaluation = iteration.evaluation
    lines = [f"Iteration {iteration.iteration}"]
    if form == "full_output" and iteration.output:
        lines.append(f"Output: {iteration.output[:OUTPUT_CHARS]}")
    if iteration.notes:
        lines.append(f"Notes: {json.dumps(iteration.notes, default=str)[:NOTE_CHARS]}")
    if evaluation is not None:
        lines.append(f"Evaluation: {'success' if evaluation.success else 'not yet'}")
        lines.append(f"Feedback: {evaluation.feedback[:NOTE_CHARS]}")
    return "\n".join(lines)


def _script_text(iteration: LoopIteration) -> str:
    script = iteration.script_output
    return "" if script is None else script.model_dump_json()
