"""Streams are metered in pieces of any size, and their end is recognised."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agents.gateway_port import Dialect
from app.gateway.scripted.answers.answer import Scripted, Turnover
from app.gateway.scripted.answers.writing import stream, whole_answer
from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Spoken
from app.gateway.streams import MAX_EVENT_BYTES, ListMeter, StreamMeter, meter_for
from app.gateway.usage_reading import Tokens, read_answer

WORDS = Spoken("Some words in several pieces.")
EVERY_DIALECT = pytest.mark.parametrize("dialect", list(Dialect), ids=str)


def scripted(dialect: Dialect, spoken: Spoken = WORDS) -> Scripted:
    request = ScriptedRequest(dialect, "some-model", True, True, True, (), ())
    return Scripted(request, spoken, Turnover(1000, 50, 300), 1)


@EVERY_DIALECT
@given(size=st.integers(min_value=1, max_value=200))
def test_pieces_of_any_size(dialect: Dialect, size: int) -> None:
    content = b"".join(stream(scripted(dialect)))
    meter = StreamMeter(dialect)
    for at in range(0, len(content), size):
        meter.feed(content[at : at + size])
    meter.end()
    assert meter.consumption.model == "some-model"
    assert (meter.consumption.tokens.input, meter.consumption.tokens.output) == (1000, 50)
    assert meter.consumption.tokens.cache_read == 300
    assert (meter.finished, meter.error) == (True, None)


@EVERY_DIALECT
def test_half_a_stream_is_unfinished(dialect: Dialect) -> None:
    events = stream(scripted(dialect))
    meter = StreamMeter(dialect)
    meter.feed(b"".join(events[: len(events) // 2]))
    meter.end()
    assert (meter.finished, meter.error) == (False, None)


@EVERY_DIALECT
def test_a_call_of_a_tool_is_metered_like_words(dialect: Dialect) -> None:
    meter = StreamMeter(dialect)
    meter.feed(b"".join(stream(scripted(dialect, Spoken(tool="bash", arguments={"command": "ls"})))))
    meter.end()
    assert meter.finished
    assert meter.consumption.tokens.total == 1050


@EVERY_DIALECT
def test_a_whole_answer(dialect: Dialect) -> None:
    consumption = read_answer(dialect, whole_answer(scripted(dialect)))
    assert consumption.tokens.input == 1000
    assert consumption.tokens.total == 1050


def test_lines_may_end_as_windows_ends_them() -> None:
    meter = StreamMeter(Dialect.OPENAI_CHAT)
    meter.feed(b'data: {"model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}\r\n\r\n')
    meter.feed(b"data: [DONE]\r\n\r\n")
    assert (meter.finished, meter.consumption.tokens.total) == (True, 4)


@pytest.mark.parametrize(
    ("dialect", "event"),
    [
        (Dialect.ANTHROPIC, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
        (Dialect.OPENAI_CHAT, {"error": {"message": "busy", "code": 500}}),
        (Dialect.OPENAI_RESPONSES, {"type": "error", "message": "busy"}),
        (Dialect.OPENAI_RESPONSES, {"type": "response.failed", "response": {"error": {"message": "busy"}}}),
        (Dialect.GEMINI, {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
    ],
)
def test_errors_inside_a_stream(dialect: Dialect, event: object) -> None:
    meter = StreamMeter(dialect)
    meter.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
    assert meter.error is not None
    assert meter.error["message"] == "busy"


@pytest.mark.parametrize(
    "line",
    [
        b"data: {",
        b"data: [1, 2]",
        b"data: null",
        b'data: {"usage": {"prompt_tokens": -1, "completion_tokens": "9"}}',
        b'data: {"usage": {"prompt_tokens": true, "completion_tokens": 1e99}}',
        b'data: {"usage": [1], "choices": {"a": 1}}',
        b'data: {"usage": {"prompt_tokens": 99999999999999999999}}',
        b"data: " + b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_nonsense_is_not_counted(line: bytes) -> None:
    meter = StreamMeter(Dialect.OPENAI_CHAT)
    meter.feed(line + b"\n")
    assert meter.consumption.tokens == Tokens()


def test_an_endless_line_takes_no_endless_memory() -> None:
    meter = StreamMeter(Dialect.OPENAI_CHAT)
    meter.feed(b"data: ")
    for _ in range(40):
        meter.feed(b"x" * 1_000_000)
    assert len(meter._line) <= MAX_EVENT_BYTES
    meter.feed(b"\ndata: [DONE]\n")
    assert meter.finished


def test_a_provider_that_bills_is_believed() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.0125}
    consumption = read_answer(Dialect.OPENAI_CHAT, {"model": "m", "usage": usage})
    assert consumption.billed == Decimal("0.0125")


def test_reasoning_and_tools_of_gemini_are_counted() -> None:
    usage = {
        "promptTokenCount": 10,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 7,
    }
    tokens = read_answer(Dialect.GEMINI, {"usageMetadata": usage}).tokens
    assert (tokens.input, tokens.output) == (15, 9)


def test_an_answer_of_no_events_is_read_as_one_document() -> None:
    assert isinstance(meter_for(Dialect.GEMINI, "application/json; charset=utf-8"), ListMeter)
    assert isinstance(meter_for(Dialect.GEMINI, "Text/Event-Stream"), StreamMeter)
