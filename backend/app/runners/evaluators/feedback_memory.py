"""Collects what earlier attempts of a phase showed, as data and as a section of the next prompt. No I/O."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app.runners.evaluators.issues import issue_key, unique_issues
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas import defaults
from app.schemas.held_out import HeldOutKind

MAX_OUTPUT_CHARS = 2000
HISTORY_OUTPUT_CHARS = 500
ISSUES_IN_ANALYSIS = 3

ENDED_EARLY = "The work ended before the agent said that it was done:"
"""The beginning of an attempt's output if its agent was ended. The next prompt repeats it."""
MAX_ENDING_CHARS = 1000


@dataclass
class AttemptRecord:
    """One attempt and its results. Times are time zone aware, scores in [0, 1].

    Attributes:
        verdict_score: the score that decided, which is the gates' mean; None if no gates decided.
        changed_nothing: True if the attempt had to change files and changed none.
    """

    attempt_number: int
    started_at: datetime
    completed_at: datetime | None = None
    phase_output: str = ""
    evaluation_results: list[EvaluationResult] = field(default_factory=list[EvaluationResult])
    optimization_prompt: str | None = None
    trace_id: str | None = None
    verdict_score: float | None = None
    changed_nothing: bool = False

    @property
    def duration_ms(self) -> int | None:
        """Milliseconds from start to completion; None until completed."""
        if self.completed_at is None:
            return None
        return round((self.completed_at - self.started_at).total_seconds() * 1000)

    @property
    def passed(self) -> bool:
        """True if there are results and all of them passed: an empty list is no pass."""
        return bool(self.evaluation_results) and all(each.passed for each in self.evaluation_results)

    @property
    def aggregate_score(self) -> float:
        """Mean of the scores; 0.0 without results."""
        if not self.evaluation_results:
            return 0.0
        return sum(each.score for each in self.evaluation_results) / len(self.evaluation_results)

    @property
    def score(self) -> float:
        """The score for agents: the one that decided and that people see, or else the mean of all."""
        return self.aggregate_score if self.verdict_score is None else self.verdict_score

    def get_failed_feedback(self) -> list[str]:
        """Feedback of the results that did not pass."""
        return [each.feedback for each in self.evaluation_results if not each.passed]

    def issues_to_fix(self) -> list[str]:
        """What the agent can fix, without repeats: suggestions of failed results, or their feedback.

        An evaluator that reached no verdict gives the agent nothing to fix.
        """
        return unique_issues(
            text
            for each in self.evaluation_results
            if each.status is EvaluationStatus.FAILED
            for text in (each.suggestions or [each.feedback])
        )


@dataclass
class FeedbackMemory:
    """The attempts of one phase.

    Attributes:
        accumulated_insights: `recurring_issues` (every issue named so far, without repeats, in the order of
            appearance), `issue_counts` (issue → number of attempts that named it) and `successful_patterns`
            (issues of an attempt that a later one no longer had). Empty before the first attempt.
        guidance: lines that a person wrote for the agent; they are part of every summary.
        held_out: what the run's held-out tests are, which every prompt says; None if it has none.
    """

    sprint_id: UUID
    phase: str
    original_goal: str
    max_attempts: int = defaults.MAX_ATTEMPTS
    attempts: list[AttemptRecord] = field(default_factory=list[AttemptRecord])
    accumulated_insights: dict[str, Any] = field(default_factory=dict[str, Any])
    escalated: bool = False
    escalation_reason: str | None = None
    guidance: list[str] = field(default_factory=list[str])
    held_out: HeldOutKind | None = None

    @property
    def current_attempt(self) -> int:
        """Number of the attempt about to run, from 1."""
        return len(self.attempts) + 1

    @property
    def can_retry(self) -> bool:
        """True while attempts are left and no person is asked."""
        return len(self.attempts) < self.max_attempts and not self.escalated

    @property
    def latest_attempt(self) -> AttemptRecord | None:
        """The attempt that ran last."""
        return self.attempts[-1] if self.attempts else None

    @property
    def recurring_issues(self) -> list[str]:
        """Issues that more than one attempt had, most frequent first."""
        counts: dict[str, int] = self.accumulated_insights.get("issue_counts", {})
        repeated = [issue for issue, count in counts.items() if count > 1]
        return sorted(repeated, key=lambda issue: -counts[issue])

    def add_attempt(
        self,
        phase_output: str,
        evaluation_results: list[EvaluationResult],
        optimization_prompt: str | None = None,
        trace_id: str | None = None,
        *,
        started_at: datetime | None = None,
        completed_at: datetime | None = None,
        verdict_score: float | None = None,
    ) -> AttemptRecord:
        """Record a finished attempt and learn from it. Missing times default to now."""
        now = datetime.now(UTC)
        record = AttemptRecord(
            attempt_number=self.current_attempt,
            started_at=started_at or completed_at or now,
            completed_at=completed_at or now,
            phase_output=phase_output[:MAX_OUTPUT_CHARS],
            evaluation_results=list(evaluation_results),
            optimization_prompt=optimization_prompt,
            trace_id=trace_id,
            verdict_score=verdict_score,
        )
        self.attempts.append(record)
        self.accumulated_insights |= _insights(self.attempts)
        return record

    def escalate(self, reason: str) -> None:
        """Stop retrying, because a person is asked."""
        self.escalated = True
        self.escalation_reason = reason

    def get_optimization_context(self) -> dict[str, Any]:
        """Return what the attempt about to run may know. It grows with each retry."""
        context: dict[str, Any] = {
            "sprint_id": str(self.sprint_id),
            "phase": self.phase,
            "original_goal": self.original_goal,
            "attempt_number": self.current_attempt,
            "max_attempts": self.max_attempts,
        }
        latest = self.latest_attempt
        if latest is not None and self.current_attempt == 2:
            context["previous_feedback"] = latest.get_failed_feedback()
            context["previous_score"] = latest.score
        elif latest is not None:
            context["attempt_history"] = [_history_entry(each) for each in self.attempts]
            context["recurring_issues"] = self.recurring_issues
            context["analysis"] = self._analysis()
        return context

    def get_summary_for_prompt(self) -> str:
        """Return the attempts and the guidance as Markdown; empty if there are neither."""
        parts: list[str] = []
        if self.attempts:
            parts += [
                f"## Previous Attempts for {self.phase} Phase",
                f"You are on attempt {self.current_attempt} of {self.max_attempts}.",
                *(_attempt_section(each) for each in self.attempts),
            ]
        if self.guidance:
            lines = "\n".join(f"- {line}" for line in self.guidance)
            parts.append(f"### Guidance from the reviewer\n{lines}")
        if self.attempts and self.current_attempt == self.max_attempts:
            parts.append("**CRITICAL**: this is the FINAL attempt. Fix every issue above.")
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values. Ids and times are strings."""
        return {
            "sprint_id": str(self.sprint_id),
            "phase": self.phase,
            "original_goal": self.original_goal,
            "max_attempts": self.max_attempts,
            "current_attempt": self.current_attempt,
            "attempts": [_attempt_dict(each) for each in self.attempts],
            "accumulated_insights": self.accumulated_insights,
            "escalated": self.escalated,
            "escalation_reason": self.escalation_reason,
            "guidance": list(self.guidance),
        }

    def _analysis(self) -> str:
        scores = [each.score for each in self.attempts]
        trend = "Improving" if scores[-1] > scores[0] else "Not improving"
        lines = [
            f"{len(self.attempts)} attempts so far.",
            f"Score trend: {trend} ({scores[0]:.2f} to {scores[-1]:.2f}).",
        ]
        if recurring := self.recurring_issues[:ISSUES_IN_ANALYSIS]:
            lines.append("Recurring issues: " + "; ".join(recurring))
        return " ".join(lines)


def _insights(attempts: list[AttemptRecord]) -> dict[str, Any]:
    """Derive the insights from all attempts. An issue keeps the words of its first appearance."""
    words: dict[str, str] = {}
    counts: Counter[str] = Counter()
    gone: dict[str, None] = {}
    before: set[str] = set()
    for attempt in attempts:
        issues = {issue_key(text): text for text in reversed(attempt.issues_to_fix())}
        for key in reversed(issues):
            words.setdefault(key, issues[key])
            counts[key] += 1
            gone.pop(key, None)
        if _was_judged(attempt):
            gone |= dict.fromkeys(key for key in words if key in before and key not in issues)
            before |= issues.keys()
    return {
        "recurring_issues": list(words.values()),
        "issue_counts": {words[key]: count for key, count in counts.items()},
        "successful_patterns": [words[key] for key in gone],
    }


def _was_judged(attempt: AttemptRecord) -> bool:
    # If an evaluator reached no verdict, a missing issue does not show that it is fixed.
    return not any(each.status is EvaluationStatus.ERRORED for each in attempt.evaluation_results)


def _history_entry(attempt: AttemptRecord) -> dict[str, Any]:
    return {
        "attempt": attempt.attempt_number,
        "score": attempt.score,
        "passed": attempt.passed,
        "feedback": attempt.get_failed_feedback(),
        "output": attempt.phase_output[:HISTORY_OUTPUT_CHARS],
    }


def _attempt_section(attempt: AttemptRecord) -> str:
    verdict = "PASSED" if attempt.passed else "FAILED"
    lines = [f"### Attempt {attempt.attempt_number}: {verdict} (Score: {attempt.score:.2f})"]
    if attempt.phase_output.startswith(ENDED_EARLY):
        lines.append(attempt.phase_output[:MAX_ENDING_CHARS])
    if attempt.changed_nothing:
        lines.append("No file was changed. Only files that are in the workspace count.")
    if issues := attempt.issues_to_fix():
        lines += ["Issues to fix:", *(f"- {issue}" for issue in issues)]
    return "\n".join(lines)


def _attempt_dict(attempt: AttemptRecord) -> dict[str, Any]:
    return {
        "attempt_number": attempt.attempt_number,
        "started_at": attempt.started_at.isoformat(),
        "completed_at": attempt.completed_at.isoformat() if attempt.completed_at else None,
        "passed": attempt.passed,
        "score": attempt.score,
        "feedback": attempt.get_failed_feedback(),
        "trace_id": attempt.trace_id,
    }
