"""What was added to a prompt can be shown, and nothing of either prompt is lost in showing it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services.read.prompt_changes import prompt_changes

LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "FIX: x\n", "\r\n", "no end"]), max_size=30)


@given(LINES, LINES)
def test_both_prompts_can_be_read_back(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    parts = prompt_changes(before, after)
    assert "".join(each.text for each in parts if each.kind != "removed") == after
    assert "".join(each.text for each in parts if each.kind != "added") == before
    assert all(each.text for each in parts)


CHANGES = {
    "guidance is added": (
        "Do it.\n\nBe quick.\n",
        "Do it.\n\n### Guidance from the reviewer\n- Round half up\n\nBe quick.\n",
        ["### Guidance from the reviewer\n- Round half up\n\n"],
    ),
    "a figure changes": ("task\nattempt 1 of 3\n", "task\nattempt 2 of 3\n", ["attempt 2 of 3\n"]),
    "nothing": ("same\n", "same\n", []),
    "everything": ("", "all of it", ["all of it"]),
}


@pytest.mark.parametrize(("before", "after", "added"), CHANGES.values(), ids=CHANGES.keys())
def test_what_was_added(before: str, after: str, added: list[str]) -> None:
    assert [each.text for each in prompt_changes(before, after) if each.kind == "added"] == added


def test_long_prompts_of_equal_lines_are_compared_all_the_same() -> None:
    before = "start\n" + "\n" * 20_000 + "x\n" * 20_000
    after = "begin\n" + "\n" * 20_001 + "FIX: y\n" + "x\n" * 20_000 + "end\n"
    parts = prompt_changes(before, after)
    assert "".join(each.text for each in parts if each.kind != "removed") == after
    assert any("FIX: y" in each.text for each in parts if each.kind == "added")
