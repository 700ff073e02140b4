"""Plays a sprint's script as a model: finds phase and attempt in the prompt, and edits with tool calls."""

import re
import shlex
from dataclasses import dataclass

from app.gateway.scripted.conversation import ConversationLine, Speaker, turns_of
from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, run_shell, write_file
from app.schemas.agent_script import AgentScript, DeleteEdit, ReplaceEdit, ScriptEdit, ScriptStep, WriteEdit

_PHASE = re.compile(r"\bYou are in the (\w+) phase\b")
_ATTEMPT = re.compile(r"\bThis is attempt (\d+) of \d+\b")
_REPLACE = (
    "import pathlib,sys; path,old,new=sys.argv[1:]; file=pathlib.Path(path); text=file.read_text(); "
    "assert text.count(old)==1; file.write_text(text.replace(old,new))"
)


@dataclass(frozen=True, slots=True)
class ScriptPlayer:
    """Plays the script's step for the phase and attempt that the last prompt names.

    Each edit is a separate tool call. After the last edit comes the step's message. As with the scripted
    agent, a step makes no edit if the prompt lacks its `expects`.
    """

    script: AgentScript

    def __call__(self, request: ScriptedRequest) -> Turn:
        """Return the next turn of a conversation."""
        at = _last_prompt(request.lines)
        if at is None:
            return Say()
        prompt = request.lines[at].text
        phase, attempt = _PHASE.findall(prompt)[-1], _ATTEMPT.findall(prompt)
        step = self.script.step(phase, int(attempt[-1]) if attempt else 1, prompt)
        if step is None:
            return Say(f"The script has no steps for the phase {phase}.")
        missing = [each for each in step.expects if each not in prompt]
        if missing:
            return Say(f"The prompt does not contain {', '.join(map(repr, missing))}, so nothing is edited.")
        return _turn(step, turns_of(request.lines[at:]))


def _last_prompt(lines: tuple[ConversationLine, ...]) -> int | None:
    asked = (
        at
        for at in reversed(range(len(lines)))
        if lines[at].speaker is Speaker.USER and _PHASE.search(lines[at].text)
    )
    return next(asked, None)


def _turn(step: ScriptStep, turns: int) -> Turn:
    return _edit(step.edits[turns]) if turns < len(step.edits) else Say(step.say)


def _edit(edit: ScriptEdit) -> Turn:
    match edit:
        case WriteEdit():
            return write_file(edit.path, edit.content)
        case ReplaceEdit():
            return run_shell(f"python3 -c {shlex.join([_REPLACE, edit.path, edit.old, edit.new])}")
        case DeleteEdit():
            return run_shell(f"rm -- {shlex.quote(edit.path)}")
