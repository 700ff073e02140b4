"""The files of a workspace that loops and answers are shown."""

from pathlib import Path

import pytest

from app.runners.answer.evidence import ENTRIES_AT_ONCE, WorkspaceEvidence
from app.runners.loop.files import FILE_CHARS, FORCED_CHARS, WorkspaceContext
from app.runners.loop.roles import ContextFile, Exhausted, Trouble
from app.schemas.loop.results import FailureReason

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "src/min_stack.py": "class MinStack:\n    def push(self, x): ...\n",
        "tests/test_stack.py": "from src.min_stack import MinStack\n",
        "README.md": "A stack that knows its minimum.\n",
        "tea.md": "Steep for three minutes.\n",
        ".env": "STACK_TOKEN=stack\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


async def look(tree: Path, description: str, *paths: str, search: bool = True) -> list[ContextFile]:
    came = await WorkspaceContext(workspace=tree)(description, paths, search=search)
    assert not isinstance(came, Trouble | Exhausted)
    return list(came)


async def test_relevant_files_are_found_whole_and_secrets_are_not(tree: Path) -> None:
    found = await look(tree, "Write a min stack")
    assert {each.path for each in found} == {"src/min_stack.py", "tests/test_stack.py", "README.md"}
    assert all(each.whole and not each.named for each in found)
    assert await look(tree, "kangaroo") == []


async def test_named_files_come_first_and_once(tree: Path) -> None:
    found = await look(tree, "Write a min stack", "tea.md", "README.md", "tea.md")
    assert [each.path for each in found[:2]] == ["tea.md", "README.md"]
    assert [each.named for each in found[:3]] == [True, True, False]
    assert len({each.path for each in found}) == len(found)
    assert [each.path for each in await look(tree, "min stack", "tea.md", search=False)] == ["tea.md"]


@pytest.mark.parametrize("path", ["gone.py", ".env", "src", "../outside"])
async def test_a_named_file_that_cannot_be_shown_is_trouble(tree: Path, path: str) -> None:
    came = await WorkspaceContext(workspace=tree)("stack", [path], search=True)
    assert isinstance(came, Trouble)
    assert came.reason is FailureReason.CONTEXT_RETRIEVAL_FAILURE
    assert came.message.startswith("file_paths: ")
    assert path in came.message


async def test_named_files_have_a_bound(tree: Path) -> None:
    (tree / "long.txt").write_text("x" * (FORCED_CHARS + 1))
    came = await WorkspaceContext(workspace=tree)("stack", ["long.txt"], search=False)
    assert isinstance(came, Exhausted)
    assert (came.resource, came.used, came.limit) == ("context", FORCED_CHARS + 1, FORCED_CHARS)


async def test_of_a_long_file_the_passages_that_fit_are_shown_in_order(tree: Path) -> None:
    filler = "\n".join(f"line {number} about tea" for number in range(2000))
    (tree / "long.md").write_text(f"The stack begins.\n{filler}\nThe stack ends.\n")
    long = next(each for each in await look(tree, "stack") if each.path == "long.md")
    assert not long.whole
    assert len(long.text) <= FILE_CHARS
    assert long.text.index("The stack begins") < long.text.index("The stack ends")
    assert "[lines 1 to " in long.text


async def test_found_files_stay_within_their_bound(tree: Path) -> None:
    for number in range(40):
        (tree / f"{number}.md").write_text("stack " * 300)
    found = await WorkspaceContext(workspace=tree, found_chars=5000)("stack", [], search=True)
    assert not isinstance(found, Trouble | Exhausted)
    assert 0 < sum(len(each.text) for each in found) <= 5000
    assert len(await look(tree, "stack")) <= 12


async def test_evidence_begins_with_its_place_and_knows_no_secrets(tree: Path) -> None:
    evidence = await WorkspaceEvidence.of_workspace(tree)
    entries = await evidence.first("What is the stack?")
    assert "README.md:1-1\nA stack that knows its minimum." in entries
    assert not any("STACK_TOKEN" in each for each in entries)
    assert await evidence.first("kangaroo") == []


async def test_more_evidence_speaks_to_the_gaps_and_is_new(tree: Path) -> None:
    evidence = await WorkspaceEvidence.of_workspace(tree)
    known = await evidence.first("the stack")
    more = await evidence.more("the stack", ["how many minutes does it steep?", " "], known)
    assert more == ["tea.md:1-1\nSteep for three minutes."]
    assert await evidence.more("the stack", ["how many minutes does it steep?"], [*known, *more]) == []


async def test_every_gap_has_its_turn(tree: Path) -> None:
    for number in range(3 * ENTRIES_AT_ONCE):
        (tree / f"{number}.md").write_text(f"stack number {number}\n")
    evidence = await WorkspaceEvidence.of_workspace(tree)
    entries = await evidence.more("stack", ["stack", "minutes"], [])
    assert len(entries) == ENTRIES_AT_ONCE
    assert entries[1].startswith("tea.md")
