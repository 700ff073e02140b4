"""The option of the command `run` in a comment."""

import pytest

from app.core.errors import InvalidInputError
from app.forges.command_options import read_run_command

GIVEN = {
    "a share and words": ("--held-out-share 0.3 Keep the parser.", 0.3, "Keep the parser."),
    "a share alone": ("--held-out-share 0.3", 0.3, ""),
    "none": ("--held-out-share 0", 0.0, ""),
    "with an equals sign": ("--held-out-share=.5 Keep it.", 0.5, "Keep it."),
    "a dash of a telephone": ("\u2014held-out-share 0.3\nKeep it.\nNow.", 0.3, "Keep it.\nNow."),
    "more spaces": ("--held-out-share \t 0.8   Keep it.", 0.8, "Keep it."),
}


@pytest.mark.parametrize(("text", "share", "words"), GIVEN.values(), ids=GIVEN.keys())
def test_a_share_is_read(text: str, share: float, words: str) -> None:
    command = read_run_command(text)
    assert command.held_out is not None
    assert (command.held_out.share, command.text) == (share, words)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Keep the parser.",
        "Keep --held-out-share 0.3 as an option.",
        "<!-- --held-out-share 0.3 -->",
        "--held-out-shares 0.3",
    ],
)
def test_anything_else_is_words(text: str) -> None:
    command = read_run_command(text)
    assert (command.held_out, command.text) == (None, text)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "1.5",
        "0.81",
        "-0.1",
        "abc",
        "true",
        "NaN",
        "inf",
        "0,3",
        "30%",
        "1e-1",
        "{share=0.3}",
        "0.\u200b3",
    ],
)
def test_a_value_that_is_no_share_is_named(value: str) -> None:
    with pytest.raises(InvalidInputError, match=r"--held-out-share: needs a number from 0 to 0\.8") as caught:
        read_run_command(f"--held-out-share {value}")
    assert caught.value.field == "held_out.share"
    assert repr(value) in caught.value.detail
