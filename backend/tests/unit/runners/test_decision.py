"""The decision function: a table for each rule, and properties over whole simulated runs."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.runners.decision import (
    CompletePhase,
    CompleteRun,
    Decision,
    Escalate,
    Evaluate,
    Fail,
    Finished,
    ReturnHistory,
    ReturnPartial,
    StartAttempt,
    Wait,
    attempts_allowed,
    decide,
)
from app.runners.facts import AttemptFacts, EscalationFacts, History, Spent
from app.schemas.runs import (
    AttemptClosing,
    AttemptState,
    Budget,
    EscalationDecision,
    EscalationReason,
    RunPolicy,
    RunStatus,
    WhenExhausted,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = RunPolicy()


def history(*attempts: AttemptFacts, phase: str | None = "coding", **changes: object) -> History:
    given = History(
        status=RunStatus.ACTIVE,
        phases=("discovery", "coding", "verification"),
        phase=phase,
        attempts=attempts,
        escalations=(),
        spent=Spent(),
        now=NOW,
    )
    return replace(given, **changes)


def failed(number: int, **facts: object) -> AttemptFacts:
    return replace(
        AttemptFacts(number, AttemptState.FAILED, fingerprint=f"f{number}", tree=f"t{number}"), **facts
    )


def resolved(
    decision: EscalationDecision, attempt: int = 3, more: int = 0, **facts: object
) -> EscalationFacts:
    return replace(
        EscalationFacts(attempt, EscalationReason.ATTEMPTS_EXHAUSTED, decision, "ada", more), **facts
    )


THREE_FAILED = (failed(1), failed(2), failed(3))
OPEN = EscalationFacts(3, EscalationReason.ATTEMPTS_EXHAUSTED)

TABLE = {
    "a queued run starts its first attempt": (
        history(status=RunStatus.QUEUED),
        StartAttempt("coding", 1),
    ),
    "a passed attempt completes the phase": (
        history(AttemptFacts(1, AttemptState.PASSED)),
        CompletePhase("coding", 1),
    ),
    "a paused run rests, whatever it would do next": (history(failed(1), paused=True), Wait()),
    "also when a human has decided": (
        history(*THREE_FAILED, paused=True, escalations=(resolved(EscalationDecision.ACCEPT),)),
        Wait(),
    ),
    "and when nothing is left to do": (history(phase=None, paused=True), Wait()),
    "one that is over is over, paused or not": (
        history(status=RunStatus.CANCELLED, paused=True),
        Finished(),
    ),
    "no phase left completes the run": (history(phase=None), CompleteRun()),
    "a failed attempt is followed by the next": (history(failed(1)), StartAttempt("coding", 2)),
    "recorded output is judged, the agent is not run again": (
        history(AttemptFacts(1, AttemptState.PRODUCED)),
        Evaluate("coding", 1),
    ),
    "a worker lost while judging: only the judging is repeated": (
        history(AttemptFacts(1, AttemptState.EVALUATING, lost_workers=1)),
        Evaluate("coding", 1),
    ),
    "a worker lost while producing: the same number again": (
        history(failed(1), AttemptFacts(2, AttemptState.STARTED)),
        StartAttempt("coding", 2),
    ),
    "an agent that failed rests": (
        history(AttemptFacts(1, AttemptState.AGENT_FAILED, 1, not_before=NOW + timedelta(seconds=2))),
        Wait(until=NOW + timedelta(seconds=2)),
    ),
    "an agent that has rested is tried under the same number": (
        history(AttemptFacts(1, AttemptState.AGENT_FAILED, 1, not_before=NOW)),
        StartAttempt("coding", 1),
    ),
    "a question about changed tests is asked at the first attempt": (
        history(failed(1, question="Does the goal say so?")),
        Escalate("coding", 1, EscalationReason.QUESTION, "Does the goal say so?"),
    ),
    "also where the attempts are used up": (
        history(failed(1), failed(2), failed(3, question="Does the goal say so?")),
        Escalate("coding", 3, EscalationReason.QUESTION, "Does the goal say so?"),
    ),
    "one that a human sent back is followed by the next attempt": (
        history(
            failed(3, question="Does the goal say so?"),
            escalations=(resolved(EscalationDecision.RETRY, 3, 1, reason=EscalationReason.QUESTION),),
        ),
        StartAttempt("coding", 4),
    ),
    "also if a budget was granted afterwards": (
        history(
            failed(1, question="Does the goal say so?"),
            escalations=(
                resolved(EscalationDecision.RETRY, 1, 1, reason=EscalationReason.QUESTION),
                resolved(EscalationDecision.RETRY, 1, 1, reason=EscalationReason.BUDGET_EXHAUSTED),
            ),
        ),
        StartAttempt("coding", 2),
    ),
    "a question is asked although a human has continued the same attempt before it was judged": (
        history(
            failed(1, question="Does the goal say so?"),
            escalations=(
                resolved(EscalationDecision.RETRY, 1, 1, reason=EscalationReason.AGENT_UNAVAILABLE),
            ),
        ),
        Escalate("coding", 1, EscalationReason.QUESTION, "Does the goal say so?"),
    ),
    "one that a human accepted completes the phase": (
        history(
            failed(1, question="Does the goal say so?"),
            escalations=(resolved(EscalationDecision.ACCEPT, 1),),
        ),
        CompletePhase("coding", 1, accepted_by="ada"),
    ),
    "an open escalation waits for its human": (history(*THREE_FAILED, escalations=(OPEN,)), Wait()),
    "accept completes the phase in the reviewer's name": (
        history(*THREE_FAILED, escalations=(resolved(EscalationDecision.ACCEPT),)),
        CompletePhase("coding", 3, accepted_by="ada"),
    ),
    "reject fails the run": (
        history(*THREE_FAILED, escalations=(resolved(EscalationDecision.REJECT),)),
        Fail("coding was rejected", by="ada"),
    ),
    "retry grants further attempts": (
        history(*THREE_FAILED, escalations=(resolved(EscalationDecision.RETRY, more=2),)),
        StartAttempt("coding", 4),
    ),
    "a condition to stop that is met completes the phase, whatever the verdict": (
        history(failed(1, closing=AttemptClosing.CONDITION)),
        CompletePhase("coding", 1),
    ),
    "an attempt that could not be carried out fails the run": (
        history(failed(1), failed(2, closing=AttemptClosing.ERROR, error="no key")),
        Fail("no key"),
    ),
    "an agent that asks for a human gets one": (
        history(failed(1, closing=AttemptClosing.HUMAN, error="which database?")),
        Escalate("coding", 1, EscalationReason.HUMAN_ASKED, "which database?"),
    ),
    "also with the last attempt": (
        history(failed(1), failed(2), failed(3, closing=AttemptClosing.HUMAN, error="which?")),
        Escalate("coding", 3, EscalationReason.HUMAN_ASKED, "which?"),
    ),
    "also if a human has continued the same attempt before": (
        history(
            failed(1, closing=AttemptClosing.HUMAN, error="which database?"),
            escalations=(resolved(EscalationDecision.RETRY, 1, 1, reason=EscalationReason.BUDGET_EXHAUSTED),),
        ),
        Escalate("coding", 1, EscalationReason.HUMAN_ASKED, "which database?"),
    ),
    "a human who was asked for says how to go on": (
        history(
            failed(1, closing=AttemptClosing.HUMAN),
            escalations=(resolved(EscalationDecision.RETRY, 1, reason=EscalationReason.HUMAN_ASKED),),
        ),
        StartAttempt("coding", 2),
    ),
    "after no_progress a human's retry is not stuck at once": (
        history(
            failed(1, fingerprint="f", tree="t"),
            failed(2, fingerprint="f", tree="t"),
            escalations=(resolved(EscalationDecision.RETRY, 2, 1, reason=EscalationReason.NO_PROGRESS),),
        ),
        StartAttempt("coding", 3),
    ),
    "a granted budget goes on": (
        history(failed(1), spent=Spent(tokens=150, budget_grants=1)),
        StartAttempt("coding", 2),
    ),
    **{
        f"{status} stays over": (history(AttemptFacts(1, AttemptState.PRODUCED), status=status), Finished())
        for status in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)
    },
}


@pytest.mark.parametrize(("given", "expected"), TABLE.values(), ids=TABLE.keys())
def test_next_step(given: History, expected: Decision) -> None:
    assert decide(given, RunPolicy(budget=Budget(tokens=100))) == expected


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (WhenExhausted.RETURN_HISTORY, ReturnHistory("coding", 3, "3 of 3 iterations had no success")),
        (
            WhenExhausted.RETURN_PARTIAL,
            ReturnPartial("coding", 3, "no attempt of 3 was sufficient in all four dimensions"),
        ),
    ],
)
def test_runs_that_ask_no_human_return_what_they_have(when: WhenExhausted, expected: Decision) -> None:
    policy = RunPolicy(when_exhausted=when)
    assert decide(history(*THREE_FAILED), policy) == expected
    assert decide(history(failed(1), failed(2)), policy) == StartAttempt("coding", 3)


ESCALATIONS = {
    "attempts used up": (history(*THREE_FAILED), POLICY, EscalationReason.ATTEMPTS_EXHAUSTED, 3),
    "granted attempts used up": (
        history(*THREE_FAILED, failed(4), escalations=(resolved(EscalationDecision.RETRY, more=1),)),
        POLICY,
        EscalationReason.ATTEMPTS_EXHAUSTED,
        4,
    ),
    "same failure, same tree": (
        history(failed(1, fingerprint="f", tree="t"), failed(2, fingerprint="f", tree="t")),
        POLICY,
        EscalationReason.NO_PROGRESS,
        2,
    ),
    "same failure, same tree, although a human has continued the attempt before it failed": (
        history(
            failed(1, fingerprint="f", tree="t"),
            failed(2, fingerprint="f", tree="t"),
            escalations=(resolved(EscalationDecision.RETRY, 2, 1, reason=EscalationReason.WORKER_LOST),),
        ),
        POLICY,
        EscalationReason.NO_PROGRESS,
        2,
    ),
    "tokens spent": (
        history(failed(1), spent=Spent(tokens=100)),
        RunPolicy(budget=Budget(tokens=100)),
        EscalationReason.BUDGET_EXHAUSTED,
        1,
    ),
    "spent above a subtask whose agent was refused": (
        history(AttemptFacts(1, AttemptState.AGENT_FAILED), spent=Spent(over_above="in a loop above")),
        POLICY,
        EscalationReason.BUDGET_EXHAUSTED,
        1,
    ),
    "dollars spent before a phase began": (
        history(spent=Spent(cost_usd=1.5)),
        RunPolicy(budget=Budget(cost_usd=1.0)),
        EscalationReason.BUDGET_EXHAUSTED,
        0,
    ),
    "no key": (
        history(AttemptFacts(1, AttemptState.AGENT_FAILED, 1, needs_human=True, error="no key")),
        POLICY,
        EscalationReason.AGENT_UNAVAILABLE,
        1,
    ),
    "agent failed too often": (
        history(AttemptFacts(1, AttemptState.AGENT_FAILED, POLICY.max_agent_failures)),
        POLICY,
        EscalationReason.AGENT_UNAVAILABLE,
        1,
    ),
    "no verdict too often": (
        history(AttemptFacts(1, AttemptState.PRODUCED, evaluation_failures=POLICY.max_evaluation_failures)),
        POLICY,
        EscalationReason.EVALUATOR_UNAVAILABLE,
        1,
    ),
    "workers died": (
        history(AttemptFacts(1, AttemptState.STARTED, lost_workers=POLICY.max_lost_workers - 1)),
        POLICY,
        EscalationReason.WORKER_LOST,
        1,
    ),
}


@pytest.mark.parametrize(
    ("given", "policy", "reason", "number"), ESCALATIONS.values(), ids=ESCALATIONS.keys()
)
def test_escalates(given: History, policy: RunPolicy, reason: EscalationReason, number: int) -> None:
    decision = decide(given, policy)
    assert isinstance(decision, Escalate)
    assert (decision.reason, decision.number) == (reason, number)
    assert decision.text


# --- Whole runs -------------------------------------------------------------------------------------------


@dataclass
class World:
    """A run that lives in memory: applies decisions with drawn outcomes and keeps every history it was in."""

    policy: RunPolicy
    now: History
    seen: list[tuple[History, Decision]] = field(default_factory=list)
    accepted: int = 0
    granted: int = 0

    def step(self, draw: st.DataObject) -> bool:
        decision = decide(self.now, self.policy)
        self.seen.append((self.now, decision))
        match decision:
            case StartAttempt(_, number):
                self._produce(number, draw.draw(st.sampled_from(["output", "output", "agent", "worker"])))
            case Evaluate(_, number):
                self._judge(
                    number,
                    draw.draw(st.sampled_from(["passed", "failed", "failed", "errored", "worker"])),
                    draw,
                )
            case CompletePhase():
                self._next_phase()
            case Escalate(_, number, reason, _):
                self._escalate(number, reason, draw.draw(st.sampled_from(list(EscalationDecision))))
            case Wait(until):
                assert until is not None
                self.now = replace(self.now, now=until)
            case CompleteRun() | Fail() | Finished():
                return False
        return True

    def _last(self, facts: AttemptFacts) -> None:
        others = tuple(each for each in self.now.attempts if each.number != facts.number)
        self.now = replace(self.now, attempts=(*others, facts))

    def _find(self, number: int) -> AttemptFacts:
        found = [each for each in self.now.attempts if each.number == number]
        return found[0] if found else AttemptFacts(number, AttemptState.STARTED)

    def _produce(self, number: int, outcome: str) -> None:
        facts = self._find(number)
        if facts.state is AttemptState.STARTED and facts in self.now.attempts:
            facts = replace(facts, lost_workers=facts.lost_workers + 1)
        if outcome == "worker":
            self._last(replace(facts, state=AttemptState.STARTED))
        elif outcome == "agent":
            rest = self.now.now + timedelta(seconds=1)
            self._last(
                replace(
                    facts,
                    state=AttemptState.AGENT_FAILED,
                    agent_failures=facts.agent_failures + 1,
                    not_before=rest,
                )
            )
        else:
            self._last(replace(facts, state=AttemptState.PRODUCED, not_before=None))

    def _judge(self, number: int, outcome: str, draw: st.DataObject) -> None:
        facts = self._find(number)
        if outcome == "worker":
            self._last(replace(facts, state=AttemptState.EVALUATING, lost_workers=facts.lost_workers + 1))
        elif outcome == "errored":
            self._last(
                replace(facts, state=AttemptState.PRODUCED, evaluation_failures=facts.evaluation_failures + 1)
            )
        elif outcome == "passed":
            self._last(replace(facts, state=AttemptState.PASSED))
        else:
            mark = draw.draw(st.sampled_from(["a", "b"]))
            self._last(replace(facts, state=AttemptState.FAILED, fingerprint=mark, tree=mark))

    def _next_phase(self) -> None:
        phases = self.now.phases
        assert self.now.phase is not None
        rest = phases[phases.index(self.now.phase) + 1 :]
        self.now = replace(self.now, phase=rest[0] if rest else None, attempts=(), escalations=())

    def _escalate(self, number: int, reason: EscalationReason, word: EscalationDecision) -> None:
        retry = word is EscalationDecision.RETRY and self.granted < 4
        more = 1 if retry else 0
        self.granted += more
        if word is EscalationDecision.RETRY and not retry:
            word = EscalationDecision.REJECT
        self.accepted += word is EscalationDecision.ACCEPT
        fact = EscalationFacts(number, reason, word, "ada", more)
        self.now = replace(self.now, escalations=(*self.now.escalations, fact))
        if retry and self.now.attempts:
            self._last(
                replace(
                    self.now.attempts[-1],
                    agent_failures=0,
                    evaluation_failures=0,
                    lost_workers=0,
                    not_before=None,
                )
            )


POLICIES = st.builds(
    RunPolicy,
    max_attempts=st.integers(1, 4),
    max_agent_failures=st.integers(1, 3),
    max_evaluation_failures=st.integers(1, 3),
    max_lost_workers=st.integers(1, 3),
)


@given(data=st.data(), policy=POLICIES)
@settings(max_examples=300)
def test_every_run_ends_and_nothing_passes_that_did_not(data: st.DataObject, policy: RunPolicy) -> None:
    world = World(policy, history(phase="discovery", status=RunStatus.QUEUED))
    steps = 0
    while world.step(data):
        steps += 1
        # Generous: every attempt can be lost, fail and be re-judged up to its limits, per phase and grant.
        assert steps < 3 * (policy.attempts_per_phase + 4) * 30
        allowed = attempts_allowed(world.now.escalations, policy)
        assert len(world.now.attempts) <= allowed

    for before, decision in world.seen:
        assert decide(before, policy) == decision, "the same history must give the same decision"
        if isinstance(decision, CompletePhase) and decision.accepted_by is None:
            assert before.attempts[-1].state is AttemptState.PASSED
        if isinstance(decision, CompletePhase) and decision.accepted_by is not None:
            assert before.escalations[-1].decision is EscalationDecision.ACCEPT
        if isinstance(decision, CompleteRun):
            assert before.phase is None
        if isinstance(decision, StartAttempt):
            unfinished = {AttemptState.PRODUCED, AttemptState.EVALUATING, AttemptState.PASSED}
            assert not any(
                each.number == decision.number and each.state in unfinished for each in before.attempts
            ), "recorded output is never produced again"
