"""Where the gateway's socket can be, and what is said where it cannot."""

import tempfile
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from app.gateway.serving import serve_on_socket

pytestmark = pytest.mark.anyio


async def test_a_directory_with_a_long_name_is_refused_with_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(OSError, match="the path of its socket is too long: set a shorter TMPDIR than /"):
        async with serve_on_socket(PlainTextResponse("hello")):
            pass
    assert list(long.iterdir()) == []
