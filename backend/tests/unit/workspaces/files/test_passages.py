"""Passages of a tree and how they are found."""

from hypothesis import given
from hypothesis import strategies as st

from app.workspaces.files.passages import PASSAGE_CHARS, PASSAGE_LINES, PassageIndex, passages_of, words_of
from app.workspaces.files.readable import ReadableFile

STACK = ReadableFile(
    "src/min_stack.py", "class MinStack:\n    def pop(self):\n        return self._items.pop()\n"
)
QUEUE = ReadableFile(
    "src/queue.py", "class Queue:\n    def enqueue(self, item):\n        self.items.append(item)\n"
)
READING = ReadableFile("docs/reading.md", "Tea is steeped for some minutes.\n")


def places(query: str, *files: ReadableFile, limit: int = 5) -> list[str]:
    return [
        each.passage.place for each in PassageIndex(files or (STACK, QUEUE, READING)).search(query, limit)
    ]


def test_names_are_found_by_their_parts() -> None:
    assert places("the minimum of a min stack") == ["src/min_stack.py:1-3"]
    assert places("MinStack") == ["src/min_stack.py:1-3"]
    assert places("steeping times of teas")[0] == "docs/reading.md:1-1"


def test_what_shares_no_word_is_not_found() -> None:
    assert places("kangaroo") == []
    assert places("the of and") == []
    assert places("") == []
    assert places("\ud800 \0 !!!") == []


def test_there_may_be_nothing_to_find_in() -> None:
    assert PassageIndex([]).search("stack", 3) == []
    assert PassageIndex([ReadableFile("!", "\n\n")]).search("stack", 3) == []


def test_equals_come_in_order_of_place() -> None:
    twins = [ReadableFile(f"{name}.md", "one stack\n") for name in "cab"]
    assert places("stack", *twins) == ["a.md:1-1", "b.md:1-1", "c.md:1-1"]
    assert places("stack", *twins, limit=2) == ["a.md:1-1", "b.md:1-1"]


def test_names_of_code_are_taken_apart() -> None:
    assert words_of("HTTPServer2 max_retries parseXMLFiles") == [
        *("http", "server2", "httpserver2", "max", "retrie"),
        *("parse", "xml", "file", "parsexmlfile"),
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), max_size=120).map("\n".join))
def test_passages_hold_every_line_once_and_are_short(text: str) -> None:
    passages = passages_of(ReadableFile("a", text))
    lines = text.splitlines(keepends=True)
    told = {
        number: line
        for each in passages
        for number, line in enumerate(each.text.splitlines(keepends=True), start=each.first_line)
    }
    assert all(told[number] == line for number, line in enumerate(lines, start=1) if number in told)
    assert not any(line.strip() for number, line in enumerate(lines, start=1) if number not in told)
    assert all(each.last_line - each.first_line < PASSAGE_LINES for each in passages)
    assert all(len(each.text) <= 2 * PASSAGE_CHARS for each in passages)
