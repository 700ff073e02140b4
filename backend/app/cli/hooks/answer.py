"""Decides a hook's answer from a verdict and the session's history. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.services.local.findings import ReportedFinding

DEFAULT_TIMES = 3
"""How many times a session gets its findings back."""

_HOW = "Fix this, then finish. Leave tests and tool configuration as they are."
_LISTED = 20
_LINE_CHARS = 500


class HookReply(StrEnum):
    """What the agent does: `STOP`, `STOP_WARNED` with a warning for the user, `CONTINUE` with findings."""

    STOP = "stop"
    STOP_WARNED = "stop_warned"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """An answer, its text, and how often the session has had findings back by then."""

    answer: HookReply
    text: str = ""
    returned: int = 0


def answer_to(
    verdict: str, reason: str, findings: Sequence[ReportedFinding], *, returned: int, times: int
) -> HookAnswer:
    """Return the answer to a verdict.

    Only *failed* sends an agent back. It cannot fix what prevented an evaluator's verdict, and a question is
    for a reviewer. A pass resets the count.

    Args:
        verdict: passed, failed, errored or asks.
        reason: the verdict's reason.
        findings: the findings, most important first.
        returned: how often the session has had findings back.
        times: how often it may have them back.
    """
    if verdict == "passed":
        return HookAnswer(HookReply.STOP)
    if verdict == "failed" and returned < times:
        text = f"PhaseRunner evaluated the work and it does not pass yet ({returned + 1} of {times}).\n"
        return HookAnswer(
            HookReply.CONTINUE,
            f"{text}{_listing(findings)}\n{_HOW}",
            returned + 1,
        )
    if verdict == "failed":
        text = f"PhaseRunner: the work does not pass, and the findings were sent back {returned} times.\n"
        return HookAnswer(HookReply.STOP_WARNED, text + _listing(findings), returned)
    if verdict == "asks":
        return HookAnswer(
            HookReply.STOP_WARNED, f"PhaseRunner: a reviewer must decide. {reason[:2000]}", returned
        )
    return HookAnswer(HookReply.STOP_WARNED, no_verdict(reason).text, returned)


def no_verdict(reason: str) -> HookAnswer:
    """Return the answer if nothing was evaluated: the agent may stop, and nothing counts as passed."""
    return HookAnswer(
        HookReply.STOP_WARNED, f"PhaseRunner reached no verdict, so nothing passed: {reason[:2000]}"
    )


def _listing(findings: Sequence[ReportedFinding]) -> str:
    decisive = [each for each in findings if each.level != "note"]
    lines = [_line(each) for each in decisive[:_LISTED]]
    more = len(decisive) - _LISTED
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])


def _line(finding: ReportedFinding) -> str:
    place = f"{finding.place}: " if finding.place else ""
    message = " ".join(finding.message.split())[:_LINE_CHARS]
    rule = f" [{finding.rule}]" if "::" not in finding.rule and finding.rule != finding.evaluator else ""
    return f"- {place}{message}{rule} ({finding.evaluator})"
