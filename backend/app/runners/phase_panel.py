"""The evaluators of a project's phases: runs them on outputs and draws the verdict."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from app.runners.evaluators import panel
from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.issues import failure_fingerprint
from app.runners.evaluators.project.project_file import ProjectFileError
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, Evaluator
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.verdict import PanelVerdict, VerdictPolicy, judge
from app.runners.project import ProjectPanel, ProjectRules, panel_for, read_from_tree, remark_on_change
from app.schemas.runs import RunPolicy


class PhasePanel:
    """Judges the outputs of phases.

    Args:
        registry: the operator's evaluators of each phase.
        rules: how far projects may choose their evaluators.
        project: the settings of one project, as `for_project` found them.
    """

    def __init__(
        self,
        registry: EvaluatorRegistry,
        rules: ProjectRules | None = None,
        project: ProjectPanel | None = None,
    ) -> None:
        self._registry = project.registry if project else registry
        self._operators = registry
        self._rules = rules or ProjectRules()
        self._project = project

    def for_project(self, content: bytes | ProjectFileError | None) -> "PhasePanel":
        """Return the panel with the settings of a project's file at the base commit.

        Args:
            content: of the file; None if the project has no file. With an unusable file no output passes.
        """
        found = panel_for(self._operators, content, self._rules)
        return PhasePanel(self._operators, self._rules, found)

    async def for_tree(self, base: Path | None) -> "PhasePanel":
        """Return the panel for the project with this base tree."""
        if base is None:
            return self.for_project(None)
        return self.for_project(await asyncio.to_thread(read_from_tree, base))

    def with_gate(self, evaluator: Evaluator, phases: Sequence[str]) -> "PhasePanel":
        """Return the panel with one more gate, which no project file can switch off."""
        registry = self._registry.without(())
        registry.register(evaluator, phases)
        if self._project is None:
            return PhasePanel(registry, self._rules)
        return PhasePanel(self._operators, self._rules, replace(self._project, registry=registry))

    def limited_to(self, names: Collection[str]) -> "PhasePanel":
        """Return the panel with only the named evaluators, or with all of them if none is named.

        A project's commands run only if they are named. If the project's file is unusable, the panel stays
        unchanged.
        """
        found = self._project
        if not names or found is None or found.problems:
            return self
        only = replace(found, registry=found.registry.only(names))
        return PhasePanel(self._operators, self._rules, only)

    @property
    def project(self) -> ProjectPanel | None:
        """The settings from the project's file; None before `for_project` or `for_tree`."""
        return self._project

    def get_evaluator_registry(self) -> EvaluatorRegistry:
        """The evaluators of this panel."""
        return self._registry

    async def evaluate_phase_output(
        self,
        phase: str,
        output: str,
        context: EvaluationContext,
        deterministic_only: bool = False,
        *,
        on_result: panel.OnResult | None = None,
        acceptances: Sequence[Acceptance] = (),
        too_slow: Collection[str] = (),
    ) -> list[EvaluationResult]:
        """Run every evaluator of the phase on an output.

        The list has one result for each evaluator of the phase. A crashed evaluator has the status `errored`.
        LLM evaluators are missing if a deterministic gate failed, because they do not run then. Advisers in
        `too_slow` are skipped.
        """
        context = self._project.context(context) if self._project else context
        results = await panel.evaluate(
            phase,
            output,
            context,
            self._registry,
            deterministic_only=deterministic_only,
            on_result=on_result,
            acceptances=acceptances,
            too_slow=too_slow,
        )
        remark = await self._remark(context)
        if remark is None:
            return results
        if on_result is not None:
            await on_result(remark)
        return [*results, remark]

    async def _remark(self, context: EvaluationContext) -> EvaluationResult | None:
        """Return a remark if the project's file changed. The change takes effect only in later runs."""
        workspace, project = context.get("workspace_ref"), self._project
        if not workspace or project is None or project.problems or not self._rules.honour:
            return None
        now = await asyncio.to_thread(read_from_tree, Path(workspace))
        return None if now == project.content else remark_on_change(project, now)

    def judge(
        self,
        phase: str,
        results: Sequence[EvaluationResult],
        policy: RunPolicy,
        acceptances: Sequence[Acceptance] = (),
    ) -> PanelVerdict:
        """Draw the verdict from an attempt's results and the findings that reviewers accepted before."""
        threshold = policy.pass_threshold
        if self._project is not None:
            threshold = self._project.pass_threshold(threshold)
        thresholds = VerdictPolicy(threshold, policy.blocking_threshold)
        registry = self._registry
        return judge(results, registry.gates(phase), thresholds, acceptances, registry.observed(phase))


def fingerprint_of(results: Sequence[EvaluationResult], verdict: PanelVerdict) -> str:
    """Return the fingerprint of a failure, made from the failed gates only.

    Texts of models and advisers vary from attempt to attempt.
    """
    failed = set(verdict.failed_gates)
    return failure_fingerprint(each for each in results if each.evaluator_name in failed)
