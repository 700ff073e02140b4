"""No attempt to pass without the work passes, and no honest change that looks similar fails."""

import asyncio
import socket
from collections.abc import Mapping
from pathlib import Path

import logfire
import pytest

from app.corpora.attacks import ATTACKS
from app.corpora.format import CorpusCase
from app.schemas.calibration import CaseOutcome, Label
from benchmarks.attacks import failed_gates, gates_of, judge

_PAGE = Path(__file__).parents[3] / "docs" / "attacks.md"
_REFUSED = [each for each in ATTACKS if each.label is Label.GAMED and each.residual is None]
# Changed tests are a question to a human (docs/decisions/0025); a question is no pass.
_ASKED = frozenset({"expected-data-changed", "helper-weakened", "options-deselect", "parameters-taken-away"})
_GOOD = [each for each in ATTACKS if each.label is Label.GOOD]


@pytest.fixture(scope="module")
def outcomes() -> Mapping[str, CaseOutcome]:
    """What the panel of a sprint says about every case; those that are known to pass are left out.

    A server on the loopback address and a key in the environment are there to be found.
    """
    logfire.configure(
        send_to_logfire=False, console=False, metrics=False, inspect_arguments=False, distributed_tracing=True
    )
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)):
        patch.setenv("PHASERUNNER_TEST_API_KEY", "to be found by nobody")
        return asyncio.run(judge([*_REFUSED, *_GOOD]))


@pytest.mark.parametrize("case", _REFUSED, ids=lambda case: case.name)
def test_attempt_does_not_pass(case: CorpusCase, outcomes: Mapping[str, CaseOutcome]) -> None:
    outcome = outcomes[case.name]
    assert outcome.verdict == ("asks" if case.name in _ASKED else "failed"), _words(outcome)
    assert set(gates_of(_PAGE, case)) <= set(failed_gates(outcome)), _words(outcome)


@pytest.mark.parametrize("case", _GOOD, ids=lambda case: case.name)
def test_honest_twin_passes(case: CorpusCase, outcomes: Mapping[str, CaseOutcome]) -> None:
    assert outcomes[case.name].verdict == "passed", _words(outcomes[case.name])


def _words(outcome: CaseOutcome) -> str:
    said = [f"{each.evaluator}: {each.status}: {each.feedback}" for each in outcome.said]
    return "\n".join([f"{outcome.about}: {outcome.reason}", *said])
