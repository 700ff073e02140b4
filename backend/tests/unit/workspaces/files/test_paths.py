"""How paths are shown, and where links lead."""

import os
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.workspaces.files.paths import display_path, is_git_directory_name, leaves_tree
from app.workspaces.history.refs import check_branch, check_revision


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param(b"src/a b.py", "src/a b.py", id="plain"),
        pytest.param("süß/Ω.py".encode(), "süß/Ω.py", id="letters"),
        pytest.param(b"a\nb", "a\\nb", id="line-end"),
        pytest.param(b"a\xffb", "a\\xffb", id="not-utf-8"),
        pytest.param(b"\x1b[31mred", "\\x1b[31mred", id="terminal-escape"),
        pytest.param("a\u202egpj.py".encode(), "a\\u202egpj.py", id="right-to-left-override"),
    ],
)
def test_a_path_is_shown_printable(raw: bytes, shown: str) -> None:
    assert display_path(raw) == shown


@pytest.mark.parametrize("name", [b".git", b".GIT", b".git ", b".git.", b"git~1", b".Git::$INDEX_ALLOCATION"])
def test_names_that_some_system_takes_for_git(name: bytes) -> None:
    assert is_git_directory_name(name)


@pytest.mark.parametrize("name", [b".gitignore", b".github", b"git", b".gitattributes", b"x.git", b"git~12"])
def test_names_that_are_harmless(name: bytes) -> None:
    assert not is_git_directory_name(name)


@pytest.mark.parametrize(
    ("links", "leaves"),
    [
        pytest.param({"l": "file"}, False, id="beside"),
        pytest.param({"a/l": "../file"}, False, id="up-and-inside"),
        pytest.param({"l": "nowhere"}, False, id="dangling-inside"),
        pytest.param({"l": "."}, False, id="root-itself"),
        pytest.param({"l": "../x"}, True, id="up"),
        pytest.param({"l": "/etc/passwd"}, True, id="absolute"),
        pytest.param({"a/l": "../../x"}, True, id="up-twice"),
        pytest.param({"l": "a/../../x"}, True, id="down-and-up"),
        pytest.param({"l": "m", "m": "/etc"}, True, id="through-another"),
        pytest.param({"l": "a/b/up/..", "a/b/up": "../.."}, True, id="climbs-by-a-link-that-stays"),
        pytest.param({"l": "a/b/up/a", "a/b/up": "../.."}, False, id="by-a-link-that-stays"),
        pytest.param({"l": "l"}, False, id="itself"),
        pytest.param({"l": "m", "m": "l"}, False, id="circle"),
    ],
)
def test_where_a_link_leads(tmp_path: Path, links: dict[str, str], leaves: bool) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for path, target in links.items():
        os.symlink(target, tmp_path / path)
    assert leaves_tree(os.fsencode(tmp_path), os.fsencode(next(iter(links)))) is leaves


def test_an_absolute_link_back_into_the_tree_leaves_it(tmp_path: Path) -> None:
    os.symlink(tmp_path / "file", tmp_path / "l")
    assert leaves_tree(os.fsencode(tmp_path), b"l")


@pytest.mark.parametrize("name", ["main", "feature/x", "v1.0", "a-b", "süß"])
def test_branch_names(name: str) -> None:
    assert check_branch(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "+x",
        "a..b",
        "a b",
        "a:b",
        "a~1",
        "a^",
        "a\n",
        "x.lock",
        "a//b",
        "/a",
        "a/",
        "@",
        "a@{1}",
        "a/.b",
    ],
)
def test_what_is_not_a_branch_name(name: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        check_branch(name)
    assert refused.value.field == "branch"


@pytest.mark.parametrize("name", ["", "-x", "--upload-pack=touch", "a\nb", "a\0b"])
def test_what_is_not_a_revision(name: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        check_revision(name)
    assert refused.value.field == "source.ref"
