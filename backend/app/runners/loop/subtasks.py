"""The rules of subtasks: which may run, and their share of the common budget.

A subtask is a separate loop. The rules, decided here without I/O:

1. The outermost loop has depth 0; no subtask is deeper than 5, or than a request on the way to it allows.
2. A task that one of its ancestors already is would go round for ever; it is refused. Two tasks are the same
   when their descriptions and inputs are, whatever their type, spacing and case.
3. There is one budget and one number of turns: a subtask gets what is left, and what it uses is used.
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
    """Where a loop stands among its ancestors.

    Attributes:
        tasks: fingerprints, that of the outermost loop first and its own last.
        deepest: the depth that its subtasks may reach.
    """

    tasks: tuple[str, ...]
    deepest: int = MAX_DEPTH

    @property
    def depth(self) -> int:
        """0 for a loop that no other asked for."""
        return len(self.tasks) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskPlan:
    """A subtask that may run.

    Attributes:
        definition: of its loop.
        inputs: of its loop.
        query: what it is to do, for people and as its `user_query`.
        inherited: the context around it.
        lineage: its own.
        budget: what is left of the common one.
        turns: calls of agents that are left.
    """

    definition: DirectorEvaluatorLoop
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    query: str
    inherited: str = ""
    lineage: Lineage
    budget: Budget
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What a loop and its subtasks may use together, and have used: money, tokens, calls of agents."""

    turns: int
    turns_used: int = 0
    budget: Budget = field(default_factory=Budget)
    spent: Spent = field(default_factory=Spent)


def fingerprint(description: str, inputs: Mapping[str, str]) -> str:
    """Identify a task; spacing and case make no difference."""
    told = [" ".join(description.split()).casefold(), *sorted((n, v.strip()) for n, v in inputs.items())]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def outermost(description: str, inputs: Mapping[str, str]) -> Lineage:
    """Return the lineage of a loop that no other asked for; the description's placeholders are filled."""
    return Lineage((fingerprint(description, inputs),))


def below(lineage: Lineage, request: SubtaskRequest) -> Lineage | Trouble:
    """Return the lineage of a subtask, or why there must be none."""
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
    """Return what is left of a budget; nothing left is trouble, no limit stays none."""
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
    ledger: Ledger,
    *,
    context: str = "",
) -> SubtaskPlan | Trouble | Exhausted:
    """Return the loop of a subtask, or why it must not run.

    Args:
        request: what the director asks for.
        parent: definition of the loop that asks; its models, prompts and tools are the subtask's.
        lineage: of the loop that asks.
        ledger: of all loops of the tree.
        context: what the asking director saw, for `inherit_context`.
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
        # As a value: what a model writes is not filled again.
        inputs={**request.inputs, _TASK: described},
        query=described,
        inherited=context,
        lineage=own,
        budget=left,
        turns=ledger.turns - ledger.turns_used,
    )


def _definition(request: SubtaskRequest, parent: DirectorEvaluatorLoop) -> DirectorEvaluatorLoop:
    # Two braces could be taken for a placeholder.
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
                # Registered evaluators judge the parent's work, not what it asks for on the way.
                "evaluators": (),
                "system_prompt": None,
            }
        ),
    )


def _named(sources: Mapping[str, str]) -> tuple[NamedInput, ...]:
    return tuple(NamedInput.model_validate({"name": name, "from": each}) for name, each in sources.items())


def _refused(why: str) -> Trouble:
    return Trouble(FailureReason.SUBTASK_FAILURE, f"the subtask is refused: {why}")
