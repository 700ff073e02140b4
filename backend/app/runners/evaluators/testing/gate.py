"""The test gate: runs the base's tests in the base's test setting, and those that the candidate wrote."""

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.interpreter import (
    EnvironmentTroubleError,
    environment_trouble,
    interpreter_for,
    with_interpreter,
)
from app.runners.evaluators.new_dependencies import (
    asking_about,
    lacks_dependency,
    needs_other_releases,
)
from app.runners.evaluators.protocol import (
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.source_tree import python_files
from app.runners.evaluators.testing.gate_settings import PytestGateSettings
from app.runners.evaluators.tooling import ToolTroubleError, find_base, find_workspace
from app.runners.evaluators.tree_files import tree_files
from app.schemas.questions import ProtectedPolicy
from app.workspaces.confine.sandbox import SandboxUnavailableError
from app.workspaces.files.limits import DEFAULT_LIMITS

# Files that show a project in another language, whose tests other evaluators run.
_OTHER_LANGUAGES = (
    *("package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts"),
    *("Gemfile", "composer.json", "mix.exs", "Package.swift"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestEvaluator(PytestGateSettings):
    """Passes if the base's tests and the candidate's own tests pass with the candidate's code.

    The two are separate runs with different weight, side by side. The base's tests run in the base's test
    setting (see `pytest_trees`): all of them must run to their end, none failed, none newly skipped. The
    tests that the candidate added or changed run in its own tree and must not fail. If the base has no tests,
    these are all there is: then some must pass, and the result says that the only evidence is self-written
    tests. A tree without tests fails. Only a project in another language is skipped.

    Every run has its private copy and is confined. A run that breaks is the candidate's fault unless the base
    breaks in the same way. In that case there is no verdict. The same holds if the machine lacks something
    that the base's own code needs, or if every failure is a flake of the base. The score is passed of total.

    Tests that also fail at the base count by the policy `base_failures`; a notice lists those that do not. If
    a base test fails and the candidate's version of it passes, `protected` decides: with *ask*, the failed
    result holds the question whether the goal calls for that change.

    `PytestGateSettings` describes the attributes.
    """

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Run the workspace's tests. `output` and `phase` are not used."""
        workspace = find_workspace(self, context, "test")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base = find_base(context)
            if await asyncio.to_thread(_is_foreign_language, workspace, base):
                return skipped(self, "No Python files to test")
            result = await self._judged(workspace, base, context)
        except EnvironmentTroubleError as error:
            return environment_trouble(self, error)
        except SandboxUnavailableError as error:
            return errored(self, f"The tests were not run: {error}", reason="sandbox_unavailable")
        except (ToolTroubleError, WorkspaceError) as trouble:
            return errored(self, str(trouble), reason="environment")
        return await self._stamped(result)

    async def _judged(
        self, workspace: Path, base: Path | None, context: EvaluationContext
    ) -> EvaluationResult:
        """Judge with the base's packages. Where tests may need others that are declared, judge with those."""
        # The code that runs tests is slow to import, and many projects have no tests for this gate.
        from app.runners.evaluators.testing.gate_run import judged  # noqa: PLC0415 - only to run tests

        lend = partial(
            interpreter_for, self.interpreters, self.python, base, workspace, extensions=self.extensions
        )
        async with lend() as found:
            result = with_interpreter(await judged(self, found, workspace, context), found)
        is_refused = (
            self.asks_about_dependencies
            and context.get("protected_policy", self.protected) is ProtectedPolicy.FAIL
        )
        if is_refused or not (lacks_dependency(result, found) or needs_other_releases(result, found)):
            return result
        async with lend(added=True, changed=True) as found:
            if not (found.added or found.changed):
                return result
            result = with_interpreter(await judged(self, found, workspace, context), found)
        return asking_about(found, result) if self.asks_about_dependencies else result

    async def _stamped(self, result: EvaluationResult) -> EvaluationResult:
        """Note on the result whether the tests were confined."""
        state = await self.sandbox.state()
        note = "" if state.confined else "\nThe tests ran unconfined: no sandbox was used."
        return result.model_copy(
            update={
                "feedback": result.feedback + note,
                "metadata": {**result.metadata, "sandbox": state.name},
                "evaluator_version": self.version,
            }
        )


def _is_foreign_language(workspace: Path, base: Path | None) -> bool:
    if python_files(workspace) or (base is not None and python_files(base)):
        return False
    return any(Path(each).name in _OTHER_LANGUAGES for each in tree_files(workspace, DEFAULT_LIMITS))
