"""Lines of requirement files: the project itself and local directories are judged, not installed."""

from pathlib import Path

import pytest

from app.workspaces.environments.requirement_files import RequirementFiles, requirement_file_names


@pytest.mark.parametrize(
    ("line", "extras"),
    [
        (".", set[str]()),
        ("-e ..", set[str]()),
        ("'.[dev]'", {"dev"}),
        ("-e file:.#egg=referencing", set[str]()),
        ("file:.#egg=referencing", set[str]()),
        ("file://.#egg=referencing[a,b]", {"a", "b"}),
        (".#egg=x", set[str]()),
        ("referencing @ file:.", set[str]()),
        ("referencing[c] @ file://localhost./ ; python_version > '3'", {"c"}),
        ("-e ../[docs]", {"docs"}),
        ("./kit[dev]", set[str]()),
        ("kit[dev] @ file:./kit", set[str]()),
        ("suite @ file:suite", set[str]()),
        ("referencing @ file:///elsewhere/referencing", set[str]()),
    ],
)
def test_what_is_local_is_not_installed(tmp_path: Path, line: str, extras: set[str]) -> None:
    files = collected(tmp_path, line)
    assert (files.texts, files.extras) == ({"requirements.txt": ""}, extras)


@pytest.mark.parametrize(
    "line",
    [
        "x==1",
        "pkg[e]>=1",
        "attrs>=1 ; python_version<'3'",
        "pkg @ https://example.org/pkg.whl",
        "file-magic>=0.4",
        pytest.param("a" + " " * 200_000 + "b", id="long after a name"),
        pytest.param(". " + " " * 200_000 + "b", id="long after a path"),
        pytest.param(".#egg=" + "a" * 200_000 + " b", id="long after an address"),
    ],
)
def test_what_comes_from_elsewhere_stays(tmp_path: Path, line: str) -> None:
    assert collected(tmp_path, line).texts == {"requirements.txt": f"{line}\n"}


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("-r base.txt", "-r base.txt"),
        ("-rbase.txt", "-r base.txt"),
        ("-cbase.txt", "-c base.txt"),
        ("-r=base.txt", "-r base.txt"),
        ("--requirement 'base.txt'", "--requirement base.txt"),
        ('-r "base.txt"', "-r base.txt"),
    ],
)
def test_files_are_included_as_pip_includes_them(tmp_path: Path, line: str, kept: str) -> None:
    (tmp_path / "base.txt").write_text("x==1\n")
    assert collected(tmp_path, line).texts == {"requirements.txt": f"{kept}\n", "base.txt": "x==1\n"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_files_may_be_as_windows_writes_them(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "base.txt").write_bytes(f"{mark}x==1\r\ny==2\r\n".encode(encoding))
    assert collected(tmp_path, "-r base.txt").texts["base.txt"] == "x==1\ny==2\n"


def test_requirement_files_are_found_by_their_place(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    for name in ("install.pip", "test.pip", "develop.pip", "doc.pip"):
        (tmp_path / "requirements" / name).touch()
    found = requirement_file_names(tmp_path)
    assert found == (["requirements/install.pip"], ["requirements/test.pip"], ["requirements/develop.pip"])


def collected(tree: Path, line: str) -> RequirementFiles:
    (tree / "requirements.txt").write_text(f"{line}\n")
    files = RequirementFiles()
    files.collect(tree, "requirements.txt")
    return files


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("-e git+https://example.org/a.git@main#egg=alpha", "alpha @ git+https://example.org/a.git@main"),
        (
            "--editable='git+ssh://git@example.org/a#subdirectory=x&egg=alpha[b]'",
            "alpha[b] @ git+ssh://git@example.org/a",
        ),
        ("-e git+https://example.org/a.git", "git+https://example.org/a.git"),
        ("git+https://example.org/a.git#egg=alpha", "git+https://example.org/a.git#egg=alpha"),
    ],
)
def test_what_comes_from_a_repository_is_not_editable(tmp_path: Path, line: str, kept: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"{line}\n")
    files = RequirementFiles()
    files.collect(tmp_path, "requirements.txt")
    assert files.texts == {"requirements.txt": f"{kept}\n"}
