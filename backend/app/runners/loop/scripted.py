"""A director and an evaluator without a model: they replay a script and name it as their source."""

from dataclasses import dataclass

from app.runners.loop.roles import RoleTask, Trouble
from app.schemas.agent_script import AgentScript, ScriptedRole
from app.schemas.loop.results import FailureReason, TaskResult, TaskStatus


@dataclass(frozen=True, slots=True)
class ScriptedRoleAgent:
    """Plays one role of a script. Like an agent with a model, it depends only on its prompt."""

    script: AgentScript
    role: ScriptedRole

    async def __call__(self, task: RoleTask) -> TaskResult | Trouble:
        """Return the script's step for the iteration."""
        told = "\n".join([task.assignment, task.context, *task.material.values()])
        step = self.script.spoken(self.role, task.iteration, told)
        if step is None:
            text = f"the script {self.script.title!r} has nothing for the {self.role.value} to say here"
            return Trouble(FailureReason.EXECUTION_HALTED, text)
        notes = dict(step.notes)
        if self.role is ScriptedRole.EVALUATOR:
            notes.setdefault("feedback", step.say)
        return TaskResult(content=step.say, status=TaskStatus(step.status), notes=notes)
