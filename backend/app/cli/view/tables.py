"""Renders runs, attempts and escalations as text."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.cli.view.baselines import baseline_lines
from app.cli.view.forge_lines import forge_lines
from app.cli.view.text import first_lines, one_line
from app.cli.view.words import KIND_WORDS, SCRIPT_WARNING, duration, look, money, part_of, plural
from app.schemas.questions import QUESTIONS

if TYPE_CHECKING:
    # Every command imports this module, but needs few of these.
    from app.schemas.api.attempts import AttemptView, EvaluationView
    from app.schemas.api.escalations import EscalationView
    from app.schemas.api.loops import SubtaskNode
    from app.schemas.api.run_details import RunDetail
    from app.schemas.api.runs import RunView
    from app.schemas.runs import Usage

Line = tuple[str, str]
"""Text and its style."""


def runs_table(runs: "Iterable[RunView]", now: datetime) -> Table:
    """Return a table with a row for each run."""
    table = _table("ID", "STATUS", "PHASE", "ATTEMPT", "AGE", "NAME")
    for each in runs:
        attempt = f"{each.attempt}/{each.max_attempts}" if each.attempt else ""
        name = f"{one_line(each.name, 80)}{' (scripted)' if each.scripted else ''}"
        table.add_row(
            str(each.id)[:8],
            _state("paused" if each.paused else each.status.value),
            one_line(each.phase or ""),
            attempt,
            _age(each.created_at, now),
            _cut(name),
        )
    return table


def escalations_table(escalations: "Iterable[EscalationView]", now: datetime) -> Table:
    """Return a table with a row for each escalation."""
    table = _table("ID", "STATUS", "RUN", "PHASE", "ATTEMPT", "AGE", "REASON")
    for each in escalations:
        table.add_row(
            str(each.id)[:8],
            _state(each.status),
            str(each.run_id)[:8],
            one_line(each.phase),
            str(each.attempt),
            _age(each.created_at, now),
            _cut(one_line(each.reason)),
        )
    return table


def print_table(console: Console, table: Table) -> None:
    """Print a table. In a pipe, cells are never cut, however wide."""
    width = None if console.is_terminal else 10_000
    console.print(table, width=width, crop=False)


def subtask_lines(nodes: "Sequence[SubtaskNode]", depth: int = 0) -> list[Line]:
    """Return the subtasks of a loop as a tree."""
    lines: list[Line] = []
    for each in nodes:
        words = f"{str(each.run_id)[:8]} {_words(each.status)}  {one_line(each.name)}"
        lines.append((f"{'  ' * depth}subtask {words}", look(each.status).style))
        lines += subtask_lines(each.subtasks, depth + 1)
    return lines


def run_lines(run: "RunDetail") -> list[Line]:
    """Return a run phase by phase, with the evidence of failures."""
    lines = [
        (f"{KIND_WORDS[run.kind]} {run.id}  {one_line(run.name)}", "bold"),
        (
            f"  status  {_words(run.status.value)}{_because(run.status_reason)}",
            look(run.status).style,
        ),
        (f"  goal    {one_line(run.goal, 500)}", ""),
        (f"  agent   {one_line(run.agent)}", ""),
        (f"  base    {run.base_commit[:12]}    head  {run.head_commit[:12] or 'none'}", ""),
        (f"  used    {usage_words(run.usage)}{_of_budget(run)}", ""),
    ]
    if run.paused is not None:
        held = f"since {run.paused.at:%Y-%m-%d %H:%M} UTC by {one_line(run.paused.by)}"
        lines.append((f"  paused  {held}{_because(run.paused.reason)}", look("paused").style))
    if run.forked_from is not None:
        origin = run.forked_from
        lines.append((f"  forked from {origin.phase}/{origin.attempt} of sprint {origin.run_id}", ""))
    lines += _judging_lines(run)
    lines += forge_lines(run)
    if run.scripted:
        lines.append((f"  {SCRIPT_WARNING}", "yellow"))
    for phase in run.phases:
        score = f", score {phase.score:.2f}" if phase.score is not None else ""
        words = f"{_words(phase.status)} ({phase.attempts} of {plural(phase.max_attempts, 'attempt')}{score})"
        lines.append((f"{phase.phase}: {words}", f"bold {look(phase.status).style}"))
        for attempt in run.attempts:
            if attempt.phase == phase.phase:
                lines += attempt_lines(attempt)
    return lines


def _judging_lines(run: "RunDetail") -> list[Line]:
    """Return what the base's tests do, and which tests the agent does not see."""
    hidden = [(f"  hidden  {one_line(run.held_out.note, 500)}", "dim")] if run.held_out else []
    return hidden + (baseline_lines(run.baseline, "  ") if run.baseline else [])


def _of_budget(run: "RunDetail") -> str:
    budget = run.policy.budget
    bounds = [
        money(budget.cost_usd) if budget.cost_usd is not None else "",
        plural(budget.tokens, "token") if budget.tokens is not None else "",
    ]
    named = " and ".join(each for each in bounds if each)
    return f" (budget: {named})" if named else ""


def attempt_lines(attempt: "AttemptView") -> list[Line]:
    """Return an attempt with its verdicts."""
    score = f", score {attempt.score:.2f}" if attempt.score is not None else ""
    state = attempt.verdict or attempt.status.value
    lines = [
        (
            f"  {_words(state)} attempt {attempt.number}{score}{_because(attempt.verdict_reason)}",
            look(state).style,
        )
    ]
    if attempt.last_error and attempt.verdict is None:
        lines.append((f"      {one_line(attempt.last_error)}", "magenta"))
    if attempt.steered:
        lines.append(("      steered by a message", ""))
    if attempt.vendor_login:
        lines.append(("      asked its vendor with a login: cost unknown", ""))
    if attempt.choice_reason:
        lines.append((f"      {one_line(attempt.choice_reason, 500)}", ""))
    for each in attempt.evaluations:
        lines += evaluation_lines(each)
    return lines


def output_lines(attempt: "AttemptView") -> list[Line]:
    """Return the beginning of an attempt's output."""
    return [("    output", ""), *((f"        {line}", "") for line in first_lines(attempt.output, 20))]


def state_of(status: str, metadata: Mapping[str, object]) -> str:
    """Return the status of an evaluation, or `asks` if only questions to a person prevent a pass."""
    return "asks" if status == "failed" and metadata.get(QUESTIONS) else status


def evaluation_lines(evaluation: "EvaluationView") -> list[Line]:
    """Return a verdict. Unless it passed, it includes all evidence, even what the agent does not get."""
    lines = verdict_lines(
        evaluation.evaluator,
        state_of(evaluation.status, evaluation.metadata),
        part_of(gate=evaluation.gate, observed=evaluation.observed),
        evaluation.score,
        evaluation.feedback,
        evaluation.suggestions,
        evaluation.duration_ms,
    )
    hidden = evaluation.metadata.get("for_reviewers")
    if evaluation.status != "passed" and isinstance(hidden, dict):
        said = first_lines(str(cast("dict[str, object]", hidden).get("feedback", "")), 8)
        lines += [
            ("        For reviewers, not for the agent:", "dim"),
            *((f"          {line}", "") for line in said),
        ]
    return lines


def verdict_lines(
    name: str,
    state: str,
    role: str,
    score: float,
    feedback: str,
    suggestions: Sequence[str],
    duration_ms: int | None,
) -> list[Line]:
    """Return one evaluator's result, stored or not.

    A pass with one line of feedback says nothing more than that.

    Args:
        state: its status; `asks` if only questions prevent a pass.
        role: names its part.
    """
    said = first_lines(feedback, 8, 500)
    if state == "skipped" and len(said) == 1 and not suggestions:
        return [(f"    {_words(state)} {one_line(name)}: {said[0]}", look(state).style)]
    took = f", {duration(duration_ms / 1000)}" if duration_ms is not None else ""
    lines = [(f"    {_words(state)} {one_line(name)} ({role}, {score:.2f}{took})", look(state).style)]
    if state == "passed":
        return [*lines, *((f"        {line}", "dim") for line in said if len(said) > 1)]
    if len(said) < 2 and state != "asks":  # detailed feedback names them itself
        said = (*said, *(f"- {one_line(each)}" for each in suggestions[:5]))
    return [*lines, *((f"        {line}", "") for line in said)]


def escalation_lines(escalation: "EscalationView", run: "RunDetail") -> list[Line]:
    """Return an escalation of a run with what its reviewer must know, and the decision if there is one."""
    word = KIND_WORDS[escalation.kind].lower()
    lines = [
        (f"Escalation {escalation.id}", "bold"),
        (f"  status  {_words(escalation.status)}", look(escalation.status).style),
        (f"  {word:<7} {escalation.run_id}  {one_line(escalation.run_name)}", ""),
        (f"  goal    {one_line(run.goal, 1000)}", ""),
        (f"  phase   {one_line(escalation.phase)}, attempt {escalation.attempt}", ""),
        (f"  used    {usage_words(run.usage)}{_of_budget(run)}", ""),
        (f"  reason  {escalation.reason_kind.value}", ""),
    ]
    if not escalation.questions:  # they say it themselves
        lines += [(f"          {line}", "") for line in first_lines(escalation.reason, 20)]
    if escalation.changed_files:
        lines.append((f"  changed {_some(escalation.changed_files)}", ""))
    if escalation.decision is None:
        taken = escalation.assigned_to
        return [*lines, (f"  taken   by {one_line(taken)}", "")] if taken else lines
    when = f" at {escalation.decided_at:%Y-%m-%d %H:%M} UTC" if escalation.decided_at else ""
    lines.append(
        (f"  decided {escalation.decision.value} by {one_line(escalation.decided_by or '?')}{when}", "")
    )
    lines += [(f"          {line}", "") for line in first_lines(escalation.guidance, 20)]
    lines += [(f"          {one_line(f'{c.place}: {c.body}')}", "") for c in escalation.line_comments]
    return lines


def usage_words(usage: "Usage") -> str:
    """Word the consumption. An unknown cost is not shown as zero."""
    tokens = plural(usage.input_tokens + usage.output_tokens, "token")
    is_unknown = usage.cost_usd is None and usage.requests
    cost = "cost unknown" if is_unknown else money(usage.cost_usd or 0)
    return f"{tokens} in {plural(usage.requests, 'request')}, {plural(usage.tool_calls, 'tool call')}, {cost}"


def _some(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return one_line(", ".join(names[:most]), 500) + more


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        # Only the last column may shrink on a narrow terminal, because a cut id is useless.
        table.add_column(column, no_wrap=column != columns[-1])
    return table


def _cut(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _words(state: str) -> str:
    return f"{look(state).icon} {one_line(state)}"


def _state(state: str) -> Text:
    return Text(_words(state), style=look(state).style)


def _because(reason: str) -> str:
    return f": {one_line(reason, 300)}" if reason.strip() else ""


def _age(since: datetime, now: datetime) -> str:
    seconds = max(0, int((now - since.astimezone(UTC)).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
