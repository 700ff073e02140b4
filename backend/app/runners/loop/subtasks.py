"""The rules of subtasks: which may run, and their share of the common budget.

A subtask is a separate loop. These rules are decided here, without I/O:

1. The outermost loop has depth 0. No subtask is deeper than 5, or deeper than any request above it allows.
2. A task that equals one of its ancestors would repeat for ever, so it is refused. Two tasks are equal if
    their
   descriptions and inputs are, regardless of type, spacing and case.
3. All loops share one budget and one number of turns. A subtask gets what is left, and its use is deducted.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.runners.facts import Spent
from app.runners.loop.context import fill
from app.runners.loop.roles import Exhausted, Trouble
from app.schemas.director_evaluator import (
    ContextManagement,
    DirectorEvaluatorLoop,
    NamedInput,
    TaskInput,
)
from app.schemas.loop.results import FailureReason
from app.schemas.loop.subtasks import MAX_DEPTH, SubtaskRequest
from app.schemas.runs import Budget

_TASK = "subtask_description"
_JUDGING = (
    "Judge whether the solution does what the original prompt asks. It was written for another task that "
    "will build on it: what is missing or wrong in it is no success."
)


@dataclass(frozen=True, slots=True)
class Lineage:
    """The position of a loop among its ancestors.

    Attributes:
        tasks: fingerprints of the tasks, from the outermost loop down to this one.
        deepest: the greatest depth that its subtasks may reach.
    """

    tasks: tuple[str, ...]
    deepest: int = MAX_DEPTH

    @property
    def depth(self) -> int:
        """The depth of the loop; 0 for an outermost one."""
        return len(self.tasks) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskPlan:
    """A subtask that may run.

    Attributes:
        definition: the definition of its loop.
        inputs: the inputs of its loop.
        query: what it must do, for people and as its `user_query`.
        inherited: the context that it inherits.
        lineage: its position among its ancestors.
        budget: what is left of the common budget.
        turns: agent calls that are left.
    """

    definition: DirectorEvaluatorLoop
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    query: str
    inherited: str = ""
    lineage: Lineage
    budget: Budget
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskLedger:
    """The common limits of a loop and its subtasks and what they have used: cost, tokens and agent calls."""

    turns: int
    turns_used: int = 0
    budget: Budget = field(default_factory=Budget)
    spent: Spent = field(default_factory=Spent)


def fingerprint(description: str, inputs: Mapping[str, str]) -> str:
    """Return the fingerprint of a task. Spacing and case make no difference."""
    told = [" ".join(description.split()).casefold(), *sorted((n, v.strip()) for n, v in inputs.items())]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def outermost(description: str, inputs: Mapping[str, str]) -> Lineage:
    """Return the lineage of an outermost loop, with the placeholders of the description filled."""
    return Lineage((fingerprint(description, inputs),))


def below(lineage: Lineage, request: SubtaskRequest) -> Lineage | Trouble:
    """Return the lineage of a subtask, or the reason why it is refused."""
    deepest = lineage.deepest
    if request.max_depth is not None:
        deepest = min(deepest, lineage.depth + request.max_depth)
    depth = lineage.depth + 1
    if depth > deepest:
        return _refused(f"it would be at depth {depth}; the deepest allowed is {deepest}")
    own = fingerprint(fill(request.description, request.inputs), request.inputs)
    if own in lineage.tasks:
        return _refused(f"it is the same task as the one at depth {lineage.tasks.index(own)}: a cycle")
    return Lineage((*lineage.tasks, own), deepest)


def remaining(budget: Budget, spent: Spent) -> Budget | Trouble:
    """Return what is left of a budget. A spent budget is trouble; no limit stays no limit."""
    grants = 1 + spent.budget_grants
    tokens = None if budget.tokens is None else budget.tokens * grants - spent.tokens
    cost = None if budget.cost_usd is None else budget.cost_usd * grants - spent.cost_usd
    if tokens is not None and tokens < 1:
        return _refused(f"the budget is used up: {spent.tokens} of {spent.tokens + tokens} tokens")
    if cost is not None and cost <= 0.0:
        return _refused(f"the budget is used up: ${spent.cost_usd:.2f} of ${spent.cost_usd + cost:.2f}")
    return Budget(tokens=tokens, cost_usd=cost)


def plan_subtask(
    request: SubtaskRequest,
    parent: DirectorEvaluatorLoop,
    lineage: Lineage,
    ledger: SubtaskLedger,
    *,
    context: str = "",
) -> SubtaskPlan | Trouble | Exhausted:
    """Return the loop of a subtask, or the reason why it must not run.

    Args:
        request: the director's request.
        parent: definition of the requesting loop; the subtask gets its models, prompts and tools.
        lineage: position of the requesting loop.
        ledger: limits and use of all loops of the tree.
        context: the context of the requesting director, for `inherit_context`.
    """
    own = below(lineage, request)
    if isinstance(own, Trouble):
        return own
    left = remaining(ledger.budget, ledger.spent)
    if isinstance(left, Trouble):
        return left
    if ledger.turns_used >= ledger.turns:
        text = f"{ledger.turns_used} of {ledger.turns} turns are used, so no subtask can run"
        return Exhausted("turns", ledger.turns_used, ledger.turns, text)
    described = fill(request.description, request.inputs)
    return SubtaskPlan(
        definition=_definition(request, parent),
        # Passed as a value, so that placeholders written by a model are not filled.
        inputs={**request.inputs, _TASK: described},
        query=described,
        inherited=context,
        lineage=own,
        budget=left,
        turns=ledger.turns - ledger.turns_used,
    )


def _definition(request: SubtaskRequest, parent: DirectorEvaluatorLoop) -> DirectorEvaluatorLoop:
    # A description with two braces could be taken for a placeholder.
    hints = "".join(f"\n- {each}" for each in request.template_hints).replace("{{", "{ {")
    given = {each: each for each in (*request.inputs, "evaluation_feedback")}
    evaluating = {"solution": "director_result", "original_prompt": "user_query"}
    return DirectorEvaluatorLoop(
        description=f"{{{{{_TASK}}}}}",
        inputs=tuple(TaskInput(name=name) for name in {**request.inputs, _TASK: ""}),
        max_iterations=1 if request.type == "atomic" else parent.max_iterations,
        context_management=ContextManagement.model_validate(request.context_management.model_dump()),
        director=parent.director.model_copy(
            update={
                "description": f"{{{{{_TASK}}}}}" + (f"\n\nHints:{hints}" if hints else ""),
                "inputs": _named(given),
            }
        ),
        evaluator=parent.evaluator.model_copy(
            update={
                "description": _JUDGING,
                "inputs": _named(evaluating),
                # Registered evaluators judge the parent's work, not the subtasks on the way to it.
                "evaluators": (),
                "system_prompt": None,
            }
        ),
    )


def _named(sources: Mapping[str, str]) -> tuple[NamedInput, ...]:
    return tuple(NamedInput.model_validate({"name": name, "from": each}) for name, each in sources.items())


def _refused(why: str) -> Trouble:
    return Trouble(FailureReason.SUBTASK_FAILURE, f"the subtask is refused: {why}")
