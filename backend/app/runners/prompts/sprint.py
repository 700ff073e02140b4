"""Words the prompts of a sprint: the task of each phase, and what a retry must fix."""

from collections.abc import Mapping, Sequence

from app.runners.evaluators.plan_artifact import MIN_DIFFERENT_WORDS, MIN_STEPS, MIN_WORDS
from app.schemas.held_out import HeldOutKind
from app.schemas.runs import Phase

PLAN_FILE = "implementation_plan.md"

_TASKS: Mapping[str, str] = {
    Phase.DISCOVERY: f"""\
You are in the discovery phase. Analyse the requirements below against the code in the workspace.
Do not change any code yet.

1. Read the files that matter: sources, tests, configuration.
2. Find out what has to change, where, and how to verify it.
3. Write the plan to `{PLAN_FILE}` in the root of the workspace: what is required, which files change and \
how, which tests show that it works, and which risks remain. Below its headings, the plan needs at least \
{MIN_WORDS} words, {MIN_DIFFERENT_WORDS} of them different, and a list of at least {MIN_STEPS} steps.

When the plan is written, end your answer with: Discovery Complete""",
    Phase.CODING: f"""\
You are in the coding phase. If `{PLAN_FILE}` is in the root of the workspace, read it and carry it out.

1. Create and change the files that the requirements below call for.
2. Add tests for new behaviour. Existing tests and tool settings are protected: the work is judged with \
their original versions, and weakening them fails. Change one only if the requirements or this prompt say so.
3. Run the tests. Lint and type errors count as failures too.

When the code is complete and the tests pass, end your answer with: Coding Complete""",
    Phase.VERIFICATION: """\
You are in the verification phase. Check whether the work in the workspace meets the requirements below.

1. Run the whole test suite.
2. Compare what the code does with each requirement.
3. Do not change code to make a check pass; report what is wrong.

Say what you checked, then end your answer with exactly one of:
VERIFICATION_SUCCESS - every requirement is met and the tests pass
VERIFICATION_FAILURE - something is missing or fails; say what""",
}

_HELD_OUT: Mapping[HeldOutKind, str] = {
    HeldOutKind.SHARE: """\
Some cases of this goal's tests are hidden from you. All cases judge each attempt, so the code must solve \
the general problem.""",
    HeldOutKind.BROUGHT: """\
Tests that are hidden from you judge each attempt, too, so the code must solve the general problem.""",
}
"""These sentences never tell what the hidden tests are."""


def base_prompt(phase: str, goal: str, held_out: HeldOutKind | None = None) -> str:
    """Return the prompt of a phase's first attempt.

    Args:
        phase: the phase.
        goal: the run's goal.
        held_out: what the run's held-out tests are; None if it has none.
    """
    told = "" if held_out is None else f"\n\n{_HELD_OUT[held_out]}"
    return f"{_task(phase)}{told}\n\n## Requirements\n\n{goal}\n"


def optimized_prompt(
    *,
    task: str,
    summary: str,
    fixes: Sequence[str],
    recurring: Sequence[str],
    attempt: int,
    max_attempts: int,
) -> str:
    """Return the prompt of a retry: what was tried, the task, and what must be fixed now.

    Args:
        task: the prompt of the phase's first attempt.
        summary: the attempts so far and the reviewer's guidance, in Markdown.
        fixes: feedback of the last attempt's failed evaluators.
        recurring: issues found in more than one attempt.
        attempt: number of the attempt about to run.
        max_attempts: attempts allowed.
    """
    sections = [summary.strip(), task.strip()]
    requirements = [f"{number}. FIX: {fix}" for number, fix in enumerate(fixes, start=1)]
    if recurring:
        requirements += ["", "These issues came up in more than one attempt. Find their cause:"]
        requirements += [f"- {issue}" for issue in recurring]
    if requirements:
        sections.append("\n".join(["## Critical Requirements", "", *requirements]))
    sections.append(f"This is attempt {attempt} of {max_attempts}.")
    return "\n\n".join(section for section in sections if section) + "\n"


def _task(phase: str) -> str:
    if phase not in _TASKS:
        raise ValueError(f"unknown phase {phase!r}; a sprint has {', '.join(Phase)}")
    return _TASKS[phase]
