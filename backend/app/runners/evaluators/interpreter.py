"""Gets the interpreter that evaluates a candidate, and notes it on results."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.runners.evaluators.new_dependencies import lacks_dependency, listed, needs_other_releases
from app.runners.evaluators.protocol import EvaluationResult, Evaluator, errored
from app.runners.evaluators.tooling import ToolTroubleError
from app.workspaces.environments.extensions.building import Extensions
from app.workspaces.environments.interpreters import Interpreters, OneInterpreter
from app.workspaces.environments.outcome import EnvironmentUnavailable, Ready


class EnvironmentTroubleError(ToolTroubleError):
    """There is no environment in which the candidate could be judged. Holds the known reason."""

    def __init__(self, trouble: EnvironmentUnavailable) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


@asynccontextmanager
async def interpreter_for(
    interpreters: Interpreters | None,
    python: Path | None,
    base: Path | None,
    workspace: Path,
    *,
    added: bool = False,
    changed: bool = False,
    extensions: Extensions | None = None,
) -> AsyncGenerator[Ready]:
    """Yield the interpreter for a candidate. Its files stay in place while the block runs.

    Args:
        interpreters: chooses it. None always means `python`, or without that the one that runs this program.
        python: see above.
        base: the tree with the dependencies that count.
        workspace: the candidate's tree.
        added: whether dependencies that only the candidate declares are installed, too, if that is allowed.
        changed: the same for the releases that it asks for instead of the base's.
        extensions: builds the compiled modules of both trees; None builds nothing.

    Raises:
        EnvironmentTroubleError: there is none.
    """
    chosen = interpreters or OneInterpreter(python)
    async with chosen.lent(base, workspace, added=added, changed=changed) as found:
        if isinstance(found, EnvironmentUnavailable):
            raise EnvironmentTroubleError(found)
        if extensions is None:
            yield found
            return
        async with extensions.lent(found, base or workspace, [base or workspace, workspace]) as built:
            yield replace(found, built=built)


def environment_trouble(evaluator: Evaluator, error: EnvironmentTroubleError) -> EvaluationResult:
    """Return the result of an evaluator that has no environment in which to judge."""
    version = str(getattr(evaluator, "version", "1"))
    found = error.trouble
    return errored(
        evaluator,
        str(error),
        version=version,
        reason="environment",
        environment=found.reason.value,
        retryable=found.retryable,
    )


def with_interpreter(result: EvaluationResult, found: Ready) -> EvaluationResult:
    """Note on a result which dependencies were installed, and what of the candidate's own was not."""
    update: dict[str, Any] = {}
    if found.key:
        update["metadata"] = {**result.metadata, "environment": found.how, "environment_key": found.key}
    if found.conceded.count:
        said = found.conceded.sentences()
        update["metadata"] = {**result.metadata, **update.get("metadata", {}), "conceded": list(said)}
        result = result.model_copy(update={"feedback": "\n".join([result.feedback, *said])})
    if found.built.trouble:
        update["metadata"] = {**result.metadata, **update.get("metadata", {}), "unbuilt": found.built.trouble}
        note = f"The compiled modules of the project were not built: {found.built.trouble}"
        result = result.model_copy(update={"feedback": f"{result.feedback}\n{note}"})
    if lacks_dependency(result, found):
        note = (
            f"The change declares dependencies that the environment of the base does not have: "
            f"{', '.join(found.missing)}. Do not use them, or ask for them to be added to the base "
            f"(ENVIRONMENT_CANDIDATE_DEPENDENCIES=install installs what a candidate declares)."
        )
        update |= {"feedback": f"{note}\n{result.feedback}", "suggestions": [note, *result.suggestions]}
    elif needs_other_releases(result, found):
        note = (
            f"The change asks for other releases than the base: {listed(found.differing)}. "
            "It was judged with the base's."
        )
        update |= {"feedback": f"{note}\n{result.feedback}"}
    return result.model_copy(update=update) if update else result
