"""A stream of records is believed only when it is whole."""

import json

import pytest

from app.runners.evaluators.pytest_report import Ending, Outcome, read_report
from app.workspaces.process import ProcessOutcome

START = {"kind": "start"}
IDS = {"kind": "collected", "ids": ["t.py::a"]}
TEST = {"kind": "test", "id": "t.py::a", "outcome": "passed", "seconds": 0.1, "message": ""}
FINISH = {"kind": "finish", "code": 0}


def stream(*records: dict[str, object]) -> bytes:
    return b"".join(
        json.dumps({"n": number, **record}).encode() + b"\n" for number, record in enumerate(records, 1)
    )


def process(code: int = 0, *, timed_out: bool = False) -> ProcessOutcome:
    return ProcessOutcome(code, "out", "err", timed_out=timed_out, truncated=False, seconds=1.0)


WHOLE = stream(START, IDS, TEST, FINISH)


@pytest.mark.parametrize(
    ("records", "ended", "ending"),
    [
        pytest.param(WHOLE, process(), Ending.COMPLETE, id="whole"),
        pytest.param(WHOLE, process(1), Ending.TORN, id="another status"),
        pytest.param(WHOLE, process(-9), Ending.TORN, id="a signal"),
        pytest.param(WHOLE, process(timed_out=True), Ending.TIMED_OUT, id="out of time"),
        pytest.param(stream(START, IDS, TEST), process(), Ending.TORN, id="no finish"),
        pytest.param(WHOLE[:-5], process(), Ending.TORN, id="cut"),
        pytest.param(WHOLE + b"{}\n", process(), Ending.TORN, id="something after the finish"),
        pytest.param(WHOLE + WHOLE, process(), Ending.TORN, id="twice"),
        pytest.param(stream(START, START, FINISH), process(), Ending.TORN, id="two starts"),
        pytest.param(stream(IDS, FINISH), process(), Ending.UNSTARTED, id="no start"),
        pytest.param(
            stream(START, {**TEST, "outcome": "great"}, FINISH), process(), Ending.TORN, id="unknown outcome"
        ),
        pytest.param(stream(START, {"kind": "test"}, FINISH), process(), Ending.TORN, id="fields missing"),
        pytest.param(stream(START, {**FINISH, "code": "0"}), process(), Ending.TORN, id="code is text"),
        pytest.param(b"not json\n", process(), Ending.UNSTARTED, id="not JSON"),
        pytest.param(b"[1]\n", process(), Ending.UNSTARTED, id="not an object"),
        pytest.param(b"", process(1), Ending.UNSTARTED, id="nothing"),
        pytest.param(stream(START, {**FINISH, "code": 4}), process(4), Ending.BROKEN, id="usage error"),
    ],
)
def test_endings(records: bytes, ended: ProcessOutcome, ending: Ending) -> None:
    assert read_report(records, ended).ending is ending


def test_what_came_before_the_tear_is_kept() -> None:
    report = read_report(WHOLE[:-5], process(timed_out=True))
    assert report.ids == ("t.py::a",)
    assert report.count() == {Outcome.PASSED: 1}
    assert report.text == "out\nerr"
