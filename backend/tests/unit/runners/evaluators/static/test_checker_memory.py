"""What is remembered of runs stays within bounds and comes back as it was."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.static.checker_memory import CheckerMemory, pack, unpack


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_least_recently_used_go_first() -> None:
    memory = CheckerMemory(max_bytes=10)
    memory.keep("a", b"1234")
    memory.keep("b", b"1234")
    assert memory.recall("a") == b"1234"
    memory.keep("c", b"1234")
    assert [memory.recall(key) for key in "abc"] == [b"1234", None, b"1234"]


def test_what_nobody_asks_for_is_forgotten() -> None:
    clock = Clock()
    memory = CheckerMemory(idle_seconds=60, clock=clock)
    memory.keep("a", b"1")
    clock.now = 40.0
    assert memory.recall("a") == b"1"
    clock.now = 80.0
    memory.keep("b", b"1")
    assert memory.recall("a") == b"1"
    clock.now = 141.0
    assert memory.size == 0 or memory.recall("a") is None
    assert memory.size == 0


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.binary(max_size=12)), max_size=30))
def test_it_never_holds_more_than_it_may(kept: list[tuple[str, bytes]]) -> None:
    memory = CheckerMemory(max_bytes=20)
    for key, data in kept:
        memory.keep(key, data)
        assert memory.size <= 20
        assert memory.recall(key) == data


def test_directories_come_back_as_they_were(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "3.11").mkdir(parents=True)
    for number in range(3):
        (source / "3.11" / f"{number}.db").write_bytes(bytes(range(256)) * 100)
    unpack(pack(source), tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(source)


def contents(directory: Path) -> dict[str, bytes]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def test_there_is_nothing_to_pack(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        pack(tmp_path / "none")
