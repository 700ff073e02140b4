"""A gate that runs any command line and judges by its exit status and its report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.commands.dev_container import image_for
from app.runners.evaluators.commands.judging import CommandJudging, ReportKind
from app.runners.evaluators.commands.language_setting import LanguageSetting
from app.runners.evaluators.commands.needs import Needs, Prepared, SetupTroubleError
from app.runners.evaluators.commands.programs import Programs
from app.runners.evaluators.commands.red_at_base import RedAtBase
from app.runners.evaluators.commands.run import Launcher
from app.runners.evaluators.interpreter import (
    EnvironmentTroubleError,
    environment_trouble,
    interpreter_for,
    with_interpreter,
)
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
)
from app.runners.evaluators.tooling import ToolTroubleError, find_base, find_workspace, seconds_here_for
from app.schemas.project_file import FindingsReport, LinesReport, OutputReport
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from app.workspaces.environments.interpreters import Interpreters


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEvaluator:
    """Runs a command in the sandbox, on a copy of the judged tree.

    Without a report, the exit status decides. With a report, both must indicate a pass: tests that can write
    their own report still cannot change the command's exit status. The report file does not exist before the
    run.

    A run can end without usable evidence (out of time, a missing program, no readable report). That is the
    candidate's fault if the same command reaches a verdict at the base. Otherwise, or without a base, there
    is no verdict.

    Attributes:
        name: unique within a phase.
        command: program and arguments; a text is run by `sh -c`.
        sandbox: confines it.
        programs: where to search for programs.
        interpreters: chooses the environment from the base's declarations. Programs of a project's own
            environment are found first. None means no environment.
        category: the aspect that it judges.
        report: the report that it writes, and its format; None without one.
        timeout: seconds for one run. If the base must be run, too, that run gets as many again.
        network: whether it reaches public addresses over HTTP and HTTPS.
        env: variables besides the usual ones.
        working_directory: where it starts, below the tree.
        pass_codes: exit statuses that indicate a pass. None means 0, and for SARIF 0 and 1, because scanners
            end with 1 if they found something.
        protected: what happens to changed tests and settings, unless the context says so.
        setting: the files of the command's language that are taken from the base, besides the usual ones.
        remark: what a pass does not show; empty without a remark.
        needs: what the project prepares for it.
    """

    name: str
    command: tuple[str, ...] | str
    sandbox: Sandbox = field(default_factory=Sandbox)
    programs: Programs = field(default_factory=Programs)
    interpreters: Interpreters | None = field(default=None, compare=False)
    category: EvaluationCategory = EvaluationCategory.TESTING
    report: ReportKind | None = None
    timeout: float = 120.0
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    working_directory: str = ""
    pass_codes: tuple[int, ...] | None = None
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    setting: LanguageSetting = field(default_factory=LanguageSetting)
    remark: str = ""
    needs: Needs = field(default_factory=Needs, compare=False)
    version: str = "5"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Run the command on the workspace. `output` and `phase` are not used."""
        workspace = find_workspace(self, context, "run a command on")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base = find_base(context)
            async with (
                interpreter_for(self.interpreters, None, base, workspace) as found,
                self.needs.prepared(base, workspace) as prepared,
            ):
                programs = self.programs.led_by(found.python) if found.key else self.programs
                judging = self._judging(workspace, base, programs, context, prepared)
                result = _with_notes(with_interpreter(await judging.judge(), found), prepared)
            if result.passed and self.remark:
                result = result.model_copy(update={"feedback": f"{result.feedback}\n{self.remark}"})
            state = await self.sandbox.state()
            return result.model_copy(update={"metadata": {**result.metadata, "sandbox": state.name}})
        except EnvironmentTroubleError as error:
            return environment_trouble(self, error)
        except SetupTroubleError as error:
            return errored(self, str(error), reason="environment", retryable=error.retryable)
        except (ToolTroubleError, WorkspaceError) as trouble:
            return errored(self, str(trouble))
        except SandboxUnavailableError as trouble:
            return errored(self, str(trouble), reason="sandbox_unavailable")

    def _judging(
        self,
        workspace: Path,
        base: Path | None,
        programs: Programs,
        context: EvaluationContext,
        prepared: Prepared,
    ) -> CommandJudging:
        launcher = Launcher(
            command=self.command,
            sandbox=self.sandbox,
            programs=programs,
            report_path=getattr(self.report, "path", None),
            prints_report=isinstance(self.report, OutputReport | LinesReport),
            timeout=seconds_here_for(context, self.timeout),
            network=self.network,
            env=self.env,
            working_directory=self.working_directory,
            sentinels=self.report.kind if isinstance(self.report, OutputReport) else None,
            prepared=prepared,
            services=self.needs.services,
            secrets=self.needs.secrets,
            image=image_for(self.sandbox.image, base),
        )
        default_codes = (0, 1) if isinstance(self.report, FindingsReport) else (0,)
        return CommandJudging(
            evaluator=self,
            launcher=launcher,
            report=self.report,
            pass_codes=self.pass_codes or default_codes,
            workspace=workspace,
            base=base,
            opened=context.get("open_paths", ()),
            protected=context.get("protected_policy", self.protected),
            setting=self.setting,
            red=RedAtBase(
                context.get("base_failures", BaseFailures.GOAL),
                context.get("goal_tests", ()),
                context.get("goal", ""),
                context.get("known_failures", ()),
            ),
        )


def _with_notes(result: EvaluationResult, prepared: Prepared) -> EvaluationResult:
    """Note on a result which packages were installed, if the candidate has other lock files."""
    if not prepared.notes:
        return result
    feedback = "\n".join([result.feedback, *prepared.notes])
    suggestions = result.suggestions if result.passed else [*prepared.notes, *result.suggestions]
    return result.model_copy(update={"feedback": feedback, "suggestions": suggestions})
