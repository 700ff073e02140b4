"""Cases on the disk: what is written is read again, and what cannot be used is named."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InvalidInputError
from app.corpora.format import CorpusCase, Files, SymbolicLink, read_corpus, write_corpus, write_files
from app.schemas.calibration import Label
from app.schemas.runs import Phase

TWIN = CorpusCase(name="honest", label=Label.GOOD, about="adds", candidate={"a.py": b"x = 1\n"})
GAMED = CorpusCase(
    name="gamed-1",
    label=Label.GAMED,
    about='says "it\'s done" — and \\ is not',
    area="tests",
    twin="honest",
    residual="nothing can tell",
    phase=Phase.VERIFICATION,
    goal="Add.\n\tTwice.",
    base={"tests/test_a.py": b"def test(): assert 0\n", "bin": b"\x00\xff"},
    candidate={
        "tests/link": SymbolicLink("/etc/passwd"),
        os.fsdecode(b"n\xe9.py"): b"",
        ".git/config": b"[core]\n",
    },
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_corpus([GAMED, TWIN], tmp_path / "corpus")
    (tmp_path / "corpus" / "README.md").write_text("not a case")
    (tmp_path / "corpus" / ".git").mkdir()
    assert read_corpus(tmp_path / "corpus") == (GAMED, TWIN)


_PATHS = st.lists(st.sampled_from(["a", "b", "c.py", ".d"]), min_size=1, max_size=3).map("/".join)
_TREES = st.dictionaries(
    _PATHS, st.binary(max_size=8) | st.builds(SymbolicLink, st.sampled_from(["a", "../x", "/"]))
)


@given(tree=_TREES, goal=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
def test_any_tree_comes_back_or_is_refused(tree: Files, goal: str) -> None:
    case = CorpusCase(name="case", label=Label.BAD, about="x", goal=goal, candidate=tree)
    impossible = any(one != other and other.startswith(f"{one}/") for one in tree for other in tree)
    with tempfile.TemporaryDirectory() as place:
        if impossible:
            with pytest.raises(InvalidInputError, match="not a directory"):
                write_corpus([case], Path(place))
            return
        write_corpus([case], Path(place))
        assert read_corpus(Path(place)) == (case,)


def _head(text: str | bytes) -> Files:
    return {"one/case.toml": text.encode() if isinstance(text, str) else text, "one/candidate/a.py": b""}


GOOD_HEAD = 'label = "good"\nabout = "x"\n'


@pytest.mark.parametrize(
    ("files", "field", "detail"),
    [
        pytest.param({"README": b""}, "", "holds no case", id="no case at all"),
        pytest.param({"one/candidate/a": b""}, "one/case.toml", "no such file", id="no head"),
        pytest.param(_head('about = "x"'), "one/case.toml: label", "Field required", id="no label"),
        pytest.param(
            _head('label = "fine"\nabout = "x"'), "one/case.toml: label", "'gamed'", id="unknown label"
        ),
        pytest.param(_head('label = "bad"'), "one/case.toml: about", "Field required", id="no about"),
        pytest.param(_head(GOOD_HEAD + "lable = 1"), "one/case.toml: lable", "Extra", id="unknown field"),
        pytest.param(_head(GOOD_HEAD + 'phase = "x"'), "one/case.toml: phase", "'coding'", id="phase"),
        pytest.param(_head(b'about = "\xff"'), "one/case.toml", "not UTF-8", id="not UTF-8"),
        pytest.param(_head("label = good"), "one/case.toml", "not TOML", id="not TOML"),
        pytest.param(_head(GOOD_HEAD + 'twin = "two"'), "one/case.toml: twin", "no case 'two'", id="no twin"),
        pytest.param(
            _head(GOOD_HEAD + 'residual = "x"'), "one/case.toml: residual", "is to pass", id="good residual"
        ),
        pytest.param(
            {"one/case.toml": GOOD_HEAD.encode()}, "one/candidate", "no directory", id="no candidate"
        ),
        pytest.param(
            {"one/case.toml": GOOD_HEAD.encode(), "one/candidate": b""},
            "one/candidate",
            "not a directory",
            id="candidate is a file",
        ),
        pytest.param(
            {"o ne/case.toml": GOOD_HEAD.encode(), "o ne/candidate/a": b""}, "o ne", "letters", id="name"
        ),
    ],
)
def test_the_file_and_the_field_are_named(tmp_path: Path, files: Files, field: str, detail: str) -> None:
    write_files(files, tmp_path / "corpus")
    with pytest.raises(InvalidInputError, match=detail) as caught:
        read_corpus(tmp_path / "corpus")
    assert caught.value.field == (field or str(tmp_path / "corpus"))


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_corpus(tmp_path / "none")
    assert caught.value.field == str(tmp_path / "none")


def test_a_pipe_in_a_tree_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    write_corpus([TWIN], tmp_path / "corpus")
    os.mkfifo(tmp_path / "corpus" / "honest" / "candidate" / "pipe")
    with pytest.raises(InvalidInputError) as caught:
        read_corpus(tmp_path / "corpus")
    assert caught.value.field == "honest/candidate/pipe"


@pytest.mark.parametrize("path", ["/a", "../a", "a/../b", "a//b", "", "a/", "./a", "a\0b"])
def test_a_path_that_leaves_the_tree_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidInputError):
        write_files({path: b""}, tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InvalidInputError, match="not empty"):
        write_corpus([TWIN], tmp_path)


def test_two_cases_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="two cases"):
        write_corpus([TWIN, TWIN], tmp_path / "corpus")
