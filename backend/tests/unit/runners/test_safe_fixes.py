"""What needs no judgement is mended by machine: only what the agent changed, only as the base's rules say."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.safe_fixes import SafeFixes
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

SORTED = {"ruff.toml": 'lint.select = ["F", "I"]\n'}
UNSORTED_TEXT = "import sys\nimport os\n\nprint(os, sys)\n"
SORTED_TEXT = "import os\nimport sys\n\nprint(os, sys)\n"


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    root.mkdir()
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


async def mend(
    place: Path, candidate: Mapping[str, str | bytes], base: Mapping[str, str | bytes], *changed: str
) -> tuple[list[str], dict[str, bytes]]:
    """Mend the candidate; give what the fixer says, and the files that are different."""
    tree = await asyncio.to_thread(write, place / "tree", candidate)
    at_base = await asyncio.to_thread(write, place / "base", base)
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    said = await SafeFixes(timeout=PATIENCE).apply(tree, at_base, changed or tuple(candidate))
    after = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert after.keys() == before.keys()
    different = {path: data for path, data in after.items() if data != before[path]}
    return said, {path.relative_to(tree).as_posix(): data for path, data in different.items()}


@pytest.mark.parametrize(
    ("text", "mended", "base"),
    [
        pytest.param("import os\nx = 1\n", "x = 1\n", {}, id="an import that nobody uses"),
        pytest.param("import os\nx = 1\n", "x = 1\n", {"b.py": "y = 1\n"}, id="formatted as the base is"),
        pytest.param("import os\nx=1\n", "x=1\n", {"b.py": "y=1\n"}, id="the base is not formatted"),
        pytest.param("x=f( 1 )\n", "x = f(1)\n", {"b.py": "y = 1\n"}, id="only the format"),
        pytest.param(UNSORTED_TEXT, SORTED_TEXT, SORTED, id="the order of imports, by the base's rules"),
        pytest.param(UNSORTED_TEXT, None, {}, id="an order that nobody asked for"),
        pytest.param("import os  # noqa: F401\n", None, {}, id="a comment keeps it"),
        pytest.param("def f():\n    x = 1\n", None, {}, id="a fix that is not safe"),
        pytest.param("def f(:\n", None, {"b.py": "y = 1\n"}, id="not Python"),
        pytest.param("import os\r\nx = 1\r\n", None, {}, id="other line ends"),
        pytest.param(b"\xef\xbb\xbfimport os\n", None, {}, id="a byte order mark"),
        pytest.param(b"# coding: latin-1\nimport os\nx = '\xe9'\n", None, {}, id="another encoding"),
        pytest.param(b"import os\0\n", None, {}, id="NUL bytes"),
        pytest.param("import os\n", None, {"ruff.toml": "no-such-setting = 1\n"}, id="rules that are none"),
        pytest.param("import os\n", None, {"ruff.toml": 'exclude = ["a.py"]\n'}, id="left out by the base"),
    ],
)
async def test_fixes(tmp_path: Path, text: str | bytes, mended: str | None, base) -> None:
    said, different = await mend(tmp_path, {"a.py": text}, base)
    assert said == ([] if mended is None else ["a.py"])
    assert different == ({} if mended is None else {"a.py": mended.encode()})


async def test_only_what_the_agent_changed_is_touched(tmp_path: Path) -> None:
    files = {"a.py": "import os\n", "b.py": "import os\n", "c.txt": "import os\n"}
    said, different = await mend(tmp_path, files, {}, "b.py", "c.txt", "gone.py", "../base/x.py")
    assert (said, list(different)) == (["b.py"], ["b.py"])


async def test_the_candidate_does_not_choose_the_rules(tmp_path: Path) -> None:
    files = {"a.py": UNSORTED_TEXT, "ruff.toml": 'lint.select = ["I"]\n', "sub/.ruff.toml": "x"}
    assert await mend(tmp_path, files, {}) == ([], {})


async def test_links_are_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    await asyncio.to_thread(outside.write_text, "import os\n")
    tree = await asyncio.to_thread(write, tmp_path / "tree", {"dir/a.py": "import os\n"})
    base = await asyncio.to_thread(write, tmp_path / "base", {})
    (tree / "b.py").symlink_to(outside)
    (tree / "link").symlink_to("dir")
    (tree / "c.py").hardlink_to(outside)
    (tree / "c.py").chmod(0o750)
    said = await SafeFixes(timeout=PATIENCE).apply(tree, base, ["b.py", "link/a.py", "c.py"])
    assert said == ["c.py"]
    assert outside.read_bytes() == (tree / "dir/a.py").read_bytes() == b"import os\n"
    assert ((tree / "c.py").read_bytes(), (tree / "c.py").stat().st_mode & 0o777) == (b"", 0o750)


async def test_out_of_time_changes_nothing(tmp_path: Path) -> None:
    tree = await asyncio.to_thread(write, tmp_path / "tree", {"a.py": "import os\n"})
    assert await SafeFixes(timeout=0.0001).apply(tree, tree, ["a.py"]) == []
    assert await asyncio.to_thread((tree / "a.py").read_text) == "import os\n"
