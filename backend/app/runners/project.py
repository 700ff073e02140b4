"""Applies a project's own file to the operator's panel: evaluators, threshold, protected paths."""

import errno
import os
import posixpath
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.commands.needs import NeededService, Needs
from app.runners.evaluators.commands.presets import PRESETS, Preset
from app.runners.evaluators.commands.programs import Programs
from app.runners.evaluators.project.project_file import (
    MAX_BYTES,
    ProjectFileError,
    ProjectFileProblem,
    read_project_file,
)
from app.runners.evaluators.project.project_registry import PROJECT_EVALUATOR, OperatorLimits, for_project
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.schemas.project_environment import EnvironmentTable
from app.schemas.project_file import PROJECT_FILE, CommandTable, ProjectFile, Report
from app.schemas.questions import ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.environments.setup import Recipe, Setups


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """How far projects may choose their evaluators.

    Attributes:
        honour: false if project files are ignored.
        limits: what no file can change.
        sandbox: confines the project's commands; None means a sandbox with the usual settings.
        programs: where the commands find programs.
        interpreters: choose the environment with the programs that commands find first; None means no
            environment.
        protected: what happens to tests that an attempt changed, if neither run nor project says.
        setups: run the set-up that a project declares for its commands; None means no set-up.
        candidate_dependencies: whether lock files that a candidate changed are installed for it.
        secrets: the secrets that projects may name for set-ups and commands.
    """

    honour: bool = True
    limits: OperatorLimits = field(default_factory=OperatorLimits)
    sandbox: Sandbox | None = None
    programs: Programs = field(default_factory=Programs)
    interpreters: Interpreters | None = None
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    setups: Setups | None = None
    candidate_dependencies: bool = False
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def command(self, table: CommandTable, environment: EnvironmentTable | None = None) -> CommandEvaluator:
        """Return the evaluator of a command, in the project's environment."""
        preset = PRESETS[table.preset] if table.preset else Preset()
        run = table.run or preset.run
        codes = tuple(table.pass_codes or preset.pass_codes)
        return CommandEvaluator(
            name=table.name,
            command=run if isinstance(run, str) else tuple(run),
            sandbox=self.sandbox or Sandbox(),
            programs=self.programs,
            interpreters=self.interpreters,
            category=EvaluationCategory(table.category or preset.category),
            report=table.report or _report_in(preset, table.working_directory),
            timeout=table.timeout,
            network=table.network,
            env={**preset.env, **table.env},
            working_directory=table.working_directory,
            protected=self.protected,
            pass_codes=codes or None,
            setting=preset.setting.below(table.working_directory),
            remark=preset.remark,
            needs=self._needs(table, environment or EnvironmentTable()),
        )

    def _needs(self, table: CommandTable, environment: EnvironmentTable) -> Needs:
        recipe = Recipe(
            lines=tuple(environment.setup),
            lock_files=tuple(environment.lock_files),
            network=environment.network,
            secrets={name: self.secrets[name] for name in environment.secrets},
            seconds=environment.timeout,
            directory=environment.working_directory,
        )
        services = [
            NeededService(name=each.name, run=each.run, ready=each.ready, seconds=each.timeout)
            for each in environment.service
        ]
        return Needs(
            setups=self.setups,
            recipe=recipe,
            candidate=self.candidate_dependencies,
            services=tuple(services),
            secrets={name: self.secrets[name] for name in table.secrets},
        )


def _report_in(preset: Preset, directory: str) -> Report | None:
    """Return a preset's report with its path below the directory in which the preset starts."""
    path: str | None = getattr(preset.report, "path", None)
    if preset.report is None or path is None or not directory:
        return preset.report
    return preset.report.model_copy(update={"path": posixpath.normpath(posixpath.join(directory, path))})


@dataclass(frozen=True, slots=True)
class ProjectPanel:
    """The evaluators and settings of one project.

    Attributes:
        registry: the project's evaluators.
        settings: those of the file; the defaults without one.
        content: of the file; None if there is none.
        problems: why the file cannot be used.
    """

    registry: EvaluatorRegistry
    settings: ProjectFile = field(default_factory=ProjectFile)
    content: bytes | None = None
    problems: tuple[ProjectFileProblem, ...] = ()

    def context(self, context: EvaluationContext) -> EvaluationContext:
        """Add the project's settings for protected files and tests.

        The run's own settings take precedence.
        """
        opened = [*context.get("open_paths", []), *self.settings.protected.open]
        extra = [*context.get("protected_paths", []), *self.settings.protected.extra]
        made: EvaluationContext = {**context, "open_paths": opened, "protected_paths": extra}
        made["goal_tests"] = [*context.get("goal_tests", []), *self.settings.tests.goal]
        made["known_failures"] = [*context.get("known_failures", []), *self.settings.tests.known_failures]
        if self.settings.protected.policy is not None:
            made.setdefault("protected_policy", self.settings.protected.policy)
        if self.settings.tests.base_failures is not None:
            made.setdefault("base_failures", self.settings.tests.base_failures)
        return made

    def pass_threshold(self, given: float) -> float:
        """Return the stricter of the given threshold and the project's."""
        return max(given, self.settings.verdict.pass_threshold or 0.0)


def panel_for(
    registry: EvaluatorRegistry, content: bytes | ProjectFileError | None, rules: ProjectRules
) -> ProjectPanel:
    """Return the panel of a project with this file content.

    An unusable file leaves one gate, which reaches no verdict and gives the reason. Nothing can pass then,
    and no tool runs in vain.
    """
    if content is None or not rules.honour:
        return ProjectPanel(registry)
    try:
        if isinstance(content, ProjectFileError):
            raise content
        file = read_project_file(content)
        make = partial(rules.command, environment=file.settings.environment)
        made = for_project(registry, file, make, rules.limits)
    except ProjectFileError as error:
        broken = EvaluatorRegistry()
        broken.register(UnusableProjectFile(error.problems))
        return ProjectPanel(broken, problems=error.problems)
    return ProjectPanel(made, file.settings, content)


@dataclass(frozen=True, slots=True)
class UnusableProjectFile:
    """The gate that replaces all others if the project's file is unusable."""

    problems: Sequence[ProjectFileProblem]
    name: str = PROJECT_EVALUATOR
    category: EvaluationCategory = EvaluationCategory.COMPLIANCE
    version: str = "1"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Return an errored result that says what is wrong with the file. No attempt can fix the base."""
        told = "; ".join(map(str, self.problems))
        return errored(self, f"{PROJECT_FILE} at the base commit cannot be used: {told}")


def remark_on_change(panel: ProjectPanel, changed: bytes | ProjectFileError | None) -> EvaluationResult:
    """Return a remark that the candidate's change does not count yet, and what is wrong with the file."""
    counts = "The one at the base commit judges this run; a change counts for later ones."
    problems: tuple[ProjectFileProblem, ...] = ()
    try:
        if isinstance(changed, ProjectFileError):
            raise changed
        if changed is not None:
            read_project_file(changed)
    except ProjectFileError as error:
        problems = error.problems
    what = "removed" if changed is None else "added" if panel.content is None else "changed"
    told = "".join(f"\n- {each}" for each in problems)
    return EvaluationResult(
        evaluator_name=PROJECT_EVALUATOR,
        category=EvaluationCategory.COMPLIANCE,
        passed=not problems,
        score=float(not problems),
        feedback=f"{PROJECT_FILE} was {what}. {counts}" + (f" It cannot be used:{told}" if problems else ""),
        suggestions=[f"Correct {each}" for each in problems],
    )


def read_from_tree(root: Path) -> bytes | ProjectFileError | None:
    """Return the content of a tree's file, None if it has none, or the reason why it cannot be read."""
    try:
        handle = os.open(root / PROJECT_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "is a link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
        return ProjectFileError([ProjectFileProblem(None, "", why)])
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return ProjectFileError([ProjectFileProblem(None, "", "is not a regular file")])
    with os.fdopen(handle, "rb") as file:
        return file.read(MAX_BYTES + 1)
