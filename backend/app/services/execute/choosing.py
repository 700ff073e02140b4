"""Explains why one candidate of an attempt was chosen. Pure."""

from collections.abc import Sequence

from app.agents.models.judge import JudgeChoice
from app.db.models import Candidate
from app.runners.evaluators.verdict import PanelVerdict, VerdictStatus
from app.services.execute.verdicts import JudgedCandidate

MAX_REASON_CHARS = 2_000


def rank(verdict: PanelVerdict) -> tuple[bool, bool, bool, float]:
    """Return the key by which candidates are ordered; the largest comes first."""
    asks = verdict.status is VerdictStatus.ASKS
    return verdict.passed, asks, verdict.status is not VerdictStatus.ERRORED, verdict.score


def leaders(judged: Sequence[JudgedCandidate]) -> list[JudgedCandidate]:
    """Return the candidates that the gates rank first; they are several if the gates rank them alike."""
    best = max(rank(each.verdict) for each in judged)
    return [each for each in judged if rank(each.verdict) == best]


def reason_of_gates(judged: Sequence[JudgedCandidate], chosen: JudgedCandidate, candidates: int) -> str:
    """Explain why the gates chose a candidate; empty if only one candidate was started."""
    if candidates == 1:
        return ""
    if len(judged) == 1:
        return f"{_name(chosen.candidate)} is the only one that finished."
    others = "; ".join(_verdict(each) for each in judged if each is not chosen)
    told = f"The gates rank {_name(chosen.candidate)} first. {_verdict(chosen)}; {others}."
    return told[:MAX_REASON_CHARS]


def reason_of_judge(alike: Sequence[JudgedCandidate], choice: JudgeChoice) -> str:
    """Explain the choice between candidates that the gates rank alike."""
    names = ", ".join(str(each.candidate.index + 1) for each in alike)
    ranked = f"The gates rank candidates {names} alike"
    chosen = next(_name(each.candidate) for each in alike if each.candidate.index == choice.index)
    if choice.model is None:
        told = f"{ranked}, and no judge is configured, so {chosen} counts."
    elif choice.score is None:
        told = f"{ranked}. {choice.rationale}"
    else:
        told = f"{ranked}. The judge ({choice.model}) chose {chosen}: {choice.rationale}"
    return told[:MAX_REASON_CHARS]


def _name(candidate: Candidate) -> str:
    agent = " ".join(each for each in (candidate.agent, candidate.model) if each)
    return f"candidate {candidate.index + 1} ({agent})"


def _verdict(each: JudgedCandidate) -> str:
    number, verdict = each.candidate.index + 1, each.verdict
    return (
        f"Candidate {number} {verdict.status.value}, score {verdict.score:.2f}: {verdict.reason.rstrip('.')}"
    )
