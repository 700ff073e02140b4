"""A stream of records is believed only when it is whole."""

import json

import pytest

from app.runners.evaluators.testing.running.report import Outcome, PytestEnding
from app.runners.evaluators.testing.running.report_reading import read_report
from app.runners.evaluators.testing.running.secret import RunSecret, code_of, draw_secret
from app.workspaces.process import ProcessOutcome

START = {"kind": "start"}
IDS = {"kind": "collected", "ids": ["t.py::a"], "places": [0]}
TEST = {"kind": "test", "id": "t.py::a", "outcome": "passed", "seconds": 0.1, "message": ""}
FINISH = {"kind": "finish", "code": 0}


SECRET = draw_secret()


def stream(*records: dict[str, object], key: bytes = SECRET.key) -> bytes:
    signed, code = b"", b""
    for number, record in enumerate(records, 1):
        line = json.dumps({"n": number, **record}).encode()
        code = code_of(key, code, line)
        signed += line + b" " + code + b"\n"
    return signed


def process(code: int = 0, *, timed_out: bool = False) -> ProcessOutcome:
    return ProcessOutcome(code, "out", "err", timed_out=timed_out, truncated=False, seconds=1.0)


WHOLE = stream(START, IDS, TEST, FINISH)


@pytest.mark.parametrize(
    ("records", "ended", "ending"),
    [
        pytest.param(WHOLE, process(), PytestEnding.COMPLETE, id="whole"),
        pytest.param(WHOLE, process(1), PytestEnding.TORN, id="another status"),
        pytest.param(WHOLE, process(-9), PytestEnding.TORN, id="a signal"),
        pytest.param(WHOLE, process(timed_out=True), PytestEnding.TIMED_OUT, id="out of time"),
        pytest.param(stream(START, IDS, TEST), process(), PytestEnding.TORN, id="no finish"),
        pytest.param(WHOLE[:-5], process(), PytestEnding.TORN, id="cut"),
        pytest.param(WHOLE + b"{}\n", process(), PytestEnding.TORN, id="something after the finish"),
        pytest.param(WHOLE + WHOLE, process(), PytestEnding.TORN, id="twice"),
        pytest.param(stream(START, START, FINISH), process(), PytestEnding.TORN, id="two starts"),
        pytest.param(stream(IDS, FINISH), process(), PytestEnding.UNSTARTED, id="no start"),
        pytest.param(
            stream(START, {**TEST, "outcome": "great"}, FINISH),
            process(),
            PytestEnding.TORN,
            id="unknown outcome",
        ),
        pytest.param(
            stream(START, {"kind": "test"}, FINISH), process(), PytestEnding.TORN, id="fields missing"
        ),
        pytest.param(stream(START, {**FINISH, "code": "0"}), process(), PytestEnding.TORN, id="code is text"),
        pytest.param(b"not json\n", process(), PytestEnding.UNSTARTED, id="not JSON"),
        pytest.param(b"[1]\n", process(), PytestEnding.UNSTARTED, id="not an object"),
        pytest.param(b"", process(1), PytestEnding.UNSTARTED, id="nothing"),
        pytest.param(
            stream(START, IDS, TEST, FINISH, key=b"guessed"),
            process(),
            PytestEnding.UNSTARTED,
            id="another key",
        ),
        pytest.param(
            stream(START, IDS) + b'{"n": 3, "kind": "finish", "code": 0}\n',
            process(),
            PytestEnding.TORN,
            id="unsigned",
        ),
        pytest.param(
            stream(START, {**TEST, "outcome": "failed"}, FINISH).replace(b"failed", b"passed"),
            process(),
            PytestEnding.TORN,
            id="changed on its way",
        ),
        pytest.param(
            stream({**START, "pytest": "7.3.2"}),
            process(4),
            PytestEnding.UNFIT,
            id="a pytest that is too old",
        ),
        pytest.param(stream(START, {**FINISH, "code": 4}), process(4), PytestEnding.BROKEN, id="usage error"),
    ],
)
def test_endings(records: bytes, ended: ProcessOutcome, ending: PytestEnding) -> None:
    assert read_report(records, ended, SECRET).ending is ending


def test_what_came_before_the_tear_is_kept() -> None:
    report = read_report(WHOLE[:-5], process(timed_out=True), SECRET)
    assert report.ids == ("t.py::a",)
    assert report.count() == {Outcome.PASSED: 1}
    assert report.text == "out\nerr"


def canary_records(secret: RunSecret, forge: str = "") -> list[dict[str, object]]:
    expected = {"equal": "passed", "expected_error": "passed", "skip": "skipped"}
    return [
        {
            "kind": "canary",
            "id": f"test_x.py::{each.name}",
            "outcome": "passed" if each.kind == forge else expected.get(each.kind, "failed"),
            "message": "",
        }
        for each in (*secret.begin, *secret.end)
    ]


def test_canaries_that_come_out_right_speak_for_the_run() -> None:
    report = read_report(stream(START, *canary_records(SECRET), FINISH), process(), SECRET)
    assert (report.ending, report.canaries_ran, report.forged) == (PytestEnding.COMPLETE, True, ())


@pytest.mark.parametrize(
    "kind", sorted({each.kind for each in (*SECRET.begin, *SECRET.end)} - {"equal", "expected_error"})
)
def test_a_canary_that_passes_and_must_not_gives_the_forger_away(kind: str) -> None:
    report = read_report(stream(START, *canary_records(SECRET, kind), FINISH), process(), SECRET)
    assert report.forged
    assert kind in report.forged[0]


def test_a_run_without_its_last_canaries_is_not_whole() -> None:
    report = read_report(stream(START, *canary_records(SECRET)[:-1], FINISH), process(), SECRET)
    assert not report.canaries_ran


def test_secrets_differ_and_fit_into_a_pipe() -> None:
    one, other = draw_secret(), draw_secret()
    assert one.key != other.key
    assert not {each.name for each in one.begin} & {each.name for each in other.begin}
    assert {each.kind for each in (*one.begin, *one.end)} == {
        each.kind for each in (*other.begin, *other.end)
    }
    assert len(one.to_bytes()) < 4096


def test_the_order_of_collection_outlives_a_shuffle() -> None:
    shuffled = {"kind": "collected", "ids": ["t.py::c", "t.py::a", "t.py::b"], "places": [2, 0, 1]}
    report = read_report(stream(START, shuffled, TEST, FINISH), process(), SECRET)
    assert report.ids == ("t.py::c", "t.py::a", "t.py::b")
    assert report.as_collected == ("t.py::a", "t.py::b", "t.py::c")
    assert report.unfinished == ("t.py::c", "t.py::b")
