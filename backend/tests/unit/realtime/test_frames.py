"""Frames of clients are checked, and what is wrong with one is said by the name of the member."""

import pytest
from pydantic import ValidationError

from app.core.event_frames import CLIENT_FRAME_ADAPTER, ErrorFrame, HeartbeatFrame

RUN = "0197a000-0000-7000-8000-000000000001"


@pytest.mark.parametrize(
    "text",
    [
        f'{{"type":"subscribe","run":"{RUN}"}}',
        f'{{"type":"subscribe","run":"{RUN}","after":7,"filters":["phase.started"]}}',
        '{"type":"subscribe","run":"runs"}',
        '{"type":"unsubscribe","run":"runs"}',
    ],
)
def test_frames_of_clients(text: str) -> None:
    assert CLIENT_FRAME_ADAPTER.validate_json(text).type in text


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("", None, id="empty"),
        pytest.param("[]", None, id="not an object"),
        pytest.param("[" * 5_000, None, id="deeply nested"),
        pytest.param("{}", None, id="no type"),
        pytest.param('{"type":"dance"}', None, id="unknown type"),
        pytest.param('{"type":"subscribe"}', "run", id="no run"),
        pytest.param('{"type":"subscribe","run":"all"}', "run", id="not a run"),
        pytest.param(f'{{"type":"subscribe","run":"{RUN}","after":-1}}', "after", id="negative cursor"),
        pytest.param(f'{{"type":"subscribe","run":"{RUN}","after":"1"}}', "after", id="cursor is text"),
        pytest.param(f'{{"type":"subscribe","run":"{RUN}","after":true}}', "after", id="cursor is true"),
        pytest.param(f'{{"type":"subscribe","run":"{RUN}","after":1e30}}', "after", id="huge cursor"),
        pytest.param(
            f'{{"type":"subscribe","run":"{RUN}","after":9223372036854775808}}', "after", id="beyond bigint"
        ),
        pytest.param(
            f'{{"type":"subscribe","run":"{RUN}","filters":["phase.started","x"]}}', "filters.1", id="filter"
        ),
        pytest.param(f'{{"type":"subscribe","run":"{RUN}","filters":[]}}', "filters", id="no filter"),
        pytest.param(f'{{"type":"subscribe","run":"{RUN}","since":1}}', "since", id="unknown member"),
    ],
)
def test_what_is_wrong_is_named(text: str, field: str | None) -> None:
    with pytest.raises(ValidationError) as caught:
        CLIENT_FRAME_ADAPTER.validate_json(text)
    frame = ErrorFrame.from_validation(caught.value)
    assert (frame.code, frame.field) == ("invalid-input", field)
    assert frame.detail


def test_members_without_a_value_are_left_out() -> None:
    assert HeartbeatFrame().wire() == b'{"type":"heartbeat"}'
