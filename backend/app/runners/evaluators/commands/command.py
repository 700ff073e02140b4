"""A gate that is any command line: judged by its exit status, and by the report that it writes."""

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

    Without a report the exit status decides. With one, both must speak for a pass: tests that could write
    their own report still have to bring the command to the right exit status. The report is a file that
    does not exist before the run.

    A run that says nothing (out of time, a missing program, no readable report) is the candidate's fault
    when the same command gives a verdict at the base; otherwise, or without a base, there is no verdict.

    Attributes:
        name: unique within a phase.
        command: program and arguments; a text is run by `sh -c`.
        sandbox: confines it.
        programs: where programs are looked for.
        interpreters: chooses the environment by what the base declares; where a project has its own,
            programs are looked for there first. None is none.
        category: the aspect it judges.
        report: what it writes, and how that is read; None for nothing.
        timeout: seconds for one run; where the base must be run too, it has as many again.
        network: whether it reaches public addresses over HTTP and HTTPS.
        env: variables beside the usual ones.
        working_directory: where it starts, below the tree.
        pass_codes: exit statuses that speak for a pass; None is 0, and for SARIF 0 and 1, because scanners
            end with 1 when they found something.
        protected: what becomes of changed tests and settings where the context does not say so.
        setting: what the base decides beside the files that it decides for every command.
        remark: what a pass does not show; empty for nothing to say.
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
        """Run the command on the workspace; `output` and `phase` play no part."""
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
            ),
        )


def _with_notes(result: EvaluationResult, prepared: Prepared) -> EvaluationResult:
    """Say on a result which packages it rests on, where the candidate has other lock files."""
    if not prepared.notes:
        return result
    feedback = "\n".join([result.feedback, *prepared.notes])
    suggestions = result.suggestions if result.passed else [*prepared.notes, *result.suggestions]
    return result.model_copy(update={"feedback": feedback, "suggestions": suggestions})
