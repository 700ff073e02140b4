"""Evaluates a loop's output with registered evaluators instead of a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.agents.files import FileRefusedError
from app.agents.models.material import shorten
from app.agents.port import FailureKind
from app.runners.evaluators.evaluator_config import CODING
from app.runners.evaluators.models.outage import outage_of
from app.runners.evaluators.panel import evaluate, judges_usage
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, EvaluationStatus
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.verdict import PanelVerdict, VerdictPolicy, VerdictStatus, judge
from app.runners.loop.roles import Exhausted, LoopRole, RoleTask, Trouble
from app.runners.loop.tree import copied_tree
from app.runners.project import ProjectPanel
from app.schemas.loop.results import FailureReason, TaskResult
from app.schemas.runs import Usage
from app.schemas.text import storable_json, storable_text

MAX_ISSUES = 50
FEEDBACK_CHARS = 8000
_PHASE = "loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelJudge:
    """Lets registered evaluators judge a copy of the workspace that contains the director's output.

    Every evaluator that a definition names is a gate. As for sprints, a pass needs at least one evaluator
    that checked something. An evaluator without a verdict is trouble, never a success.

    Attributes:
        panel: the evaluators, with the settings of the workspace's project file.
        workspace: the loop's tree, which is also the base for new findings; None without a workspace.
        policy: the thresholds.
    """

    panel: ProjectPanel
    workspace: Path | None = None
    policy: VerdictPolicy = field(default_factory=VerdictPolicy)

    async def __call__(self, task: RoleTask) -> TaskResult | Trouble:
        """Judge the director's output."""
        unknown = unknown_evaluators(task.evaluators, self.panel.registry)
        if unknown:
            return Trouble(FailureReason.INPUT_VALIDATION_FAILURE, unknown)
        try:
            async with copied_tree(self.workspace, task.files) as work:
                return await self._judge(task, work)
        except FileRefusedError as error:
            return Trouble(FailureReason.EXECUTION_HALTED, f"output_file: {error}")
        except OSError as error:
            text = f"the workspace for the evaluation cannot be created: {error}"
            return Trouble(FailureReason.EXECUTION_HALTED, text)

    async def _judge(self, task: RoleTask, work: Path) -> TaskResult | Trouble:
        registry = gates_of(self.panel.registry, task.evaluators)
        context: EvaluationContext = {"goal": task.assignment, "attempt": task.iteration}
        if self.workspace is not None or task.files:
            context["workspace_ref"] = str(work)
        if self.workspace is not None:
            context["base_ref"] = str(self.workspace)
        results = await evaluate(_PHASE, task.output, self.panel.context(context), registry)
        threshold = self.panel.pass_threshold(self.policy.pass_threshold)
        verdict = judge(results, registry.gates(_PHASE), replace(self.policy, pass_threshold=threshold))
        used = judges_usage(results)
        usage = used if used.requests else None
        if verdict.status is VerdictStatus.ERRORED:
            return _no_verdict(verdict, results, usage)
        notes = storable_json(_record(verdict, results))
        return TaskResult(content=notes["feedback"], notes=notes, usage=usage)


def _no_verdict(verdict: PanelVerdict, results: Sequence[EvaluationResult], usage: Usage | None) -> Trouble:
    told = storable_text(verdict.reason)
    outage = outage_of(results, verdict.errored_gates)
    if outage is None:
        return Trouble(FailureReason.EXECUTION_HALTED, told, usage)
    kind = FailureKind.UNAVAILABLE
    return Trouble(FailureReason.EXECUTION_HALTED, told, usage, kind, outage.retry_at)


@dataclass(frozen=True, slots=True)
class EvaluatorOrPanel:
    """Sends each evaluation to the registered evaluators that the definition names, or else to the agent."""

    agent: LoopRole
    panel: LoopRole

    async def __call__(self, task: RoleTask) -> TaskResult | Trouble | Exhausted:
        """Let the chosen evaluator judge."""
        return await (self.panel if task.evaluators else self.agent)(task)


def unknown_evaluators(names: Sequence[str], registry: EvaluatorRegistry) -> str:
    """Return a message that lists the names which are not registered; empty if all are."""
    unknown = [each for each in dict.fromkeys(names) if each not in registry.names()]
    if not unknown:
        return ""
    known = ", ".join(sorted(registry.names())) or "none"
    return f"evaluator/evaluators: there is no {', '.join(unknown)}; there are {known}"


def gates_of(registry: EvaluatorRegistry, names: Sequence[str]) -> EvaluatorRegistry:
    """Return a registry with only these evaluators, as gates of every phase.

    If an evaluator is registered more than once, for different phases, its registration for coding is used.
    """
    chosen = EvaluatorRegistry()
    for name in dict.fromkeys(names):
        found = [each for each in registry.all_registrations() if each.evaluator.name == name]
        best = next((each for each in found if each.covers(CODING)), found[0])
        chosen.add(replace(best, phases=None, gate=True, observed=False))
    return chosen


def _record(verdict: PanelVerdict, results: Sequence[EvaluationResult]) -> dict[str, Any]:
    """Return the notes of an evaluation in the form that a model gives, with the result of each evaluator."""
    unhappy = [each for each in results if each.status is EvaluationStatus.FAILED]
    suggestions = list(dict.fromkeys(said for each in unhappy for said in each.suggestions))
    told = "\n".join([verdict.reason, *(line for each in unhappy for line in _told(each))])
    return {
        "success": verdict.passed,
        "feedback": shorten(told, FEEDBACK_CHARS),
        "details": {
            "metrics": {"score": verdict.score, **{each.evaluator_name: each.score for each in results}},
            "violations": [issue for each in unhappy for issue in _issues(each)][:MAX_ISSUES],
            "suggestions": suggestions[:MAX_ISSUES],
            "evaluators": [
                {
                    "name": each.evaluator_name,
                    "version": each.evaluator_version,
                    "status": each.status.value,
                    "score": each.score,
                    "feedback": shorten(each.feedback, FEEDBACK_CHARS),
                    "duration_ms": each.duration_ms,
                }
                for each in results
            ],
        },
    }


def _told(result: EvaluationResult) -> Iterator[str]:
    yield f"{result.evaluator_name}: {result.feedback}"
    said = (result.suggestions or _issues(result))[:MAX_ISSUES]
    yield from (f"- {each}" for each in said if each not in result.feedback)


def _issues(result: EvaluationResult) -> list[str]:
    return [each.message or each.criterion for each in result.failed_criteria]
