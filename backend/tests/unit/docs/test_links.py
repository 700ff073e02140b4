"""Relative links and anchors of the documentation lead somewhere."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[4]
PAGES = sorted(
    page
    for page in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    )
)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?[^)]*\)|(?:src|srcset|href)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_ANCHOR = re.compile(r"(?:id|name)=\"([^\"]+)\"")


def prose(text: str) -> str:
    """A page without its code, where brackets are no links and # begins no heading."""
    return _FENCE.sub("", text)


def links(text: str) -> Iterator[str]:
    """The relative targets of a page's links, pictures among them."""
    for found in _LINK.finditer(_CODE.sub("", prose(text))):
        target = found[1] or found[2]
        if not urlsplit(target).scheme and not target.startswith("//"):
            yield target


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings make, and those that it names itself."""
    made: set[str] = set()
    for heading in _HEADING.findall(prose(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        kept = "".join(
            each for each in plain.lower() if each in "-_ " or unicodedata.category(each)[0] in "LNM"
        )
        slug, number = kept.strip().replace(" ", "-"), 0
        while (name := slug if number == 0 else f"{slug}-{number}") in made:
            number += 1
        made.add(name)
    return made | set(_ANCHOR.findall(text))


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found: list[str] = []
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            found.append(f"{link}: there is no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{link}: {target.name} has no such heading")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_the_pages_are_found() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in PAGES}
    assert {"README.md", "docs/guide.md", "docs/decisions/README.md"} <= names


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        pytest.param("[a](other.md)", [], id="a file"),
        pytest.param("[a](other.md#one-two)", [], id="a heading"),
        pytest.param("[a](other.md#one-two-1)", [], id="the second of two headings"),
        pytest.param("[a](missing.md)", ["missing.md: there is no such file"], id="no file"),
        pytest.param(
            "[a](other.md#three)", ["other.md#three: other.md has no such heading"], id="no heading"
        ),
        pytest.param("[a](#here)\n\n# There", ["#here: page.md has no such heading"], id="no heading here"),
        pytest.param('<img src="no.png">', ["no.png: there is no such file"], id="no picture"),
        pytest.param("[a](https://example.org/x)", [], id="another site"),
        pytest.param("```\n[a](missing.md)\n```", [], id="code"),
        pytest.param("[a](../../outside.md)", ["../../outside.md: there is no such file"], id="outside"),
    ],
)
def test_what_counts_as_broken(
    text: str, trouble: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# One two\n\n## `One` two\n\n```\n# three\n```\n")
    page = tmp_path / "page.md"
    page.write_text(text)
    assert broken(page) == trouble
