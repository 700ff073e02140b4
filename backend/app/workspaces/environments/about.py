"""Reads a project's descriptive metadata from its files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from app.workspaces.environments.reading import (
    DeclarationError,
    read_ini,
    read_text,
    table,
    texts,
)
from app.workspaces.environments.setup_py import setup_arguments

Fields = tuple[tuple[str, str], ...]
"""Names and values of metadata, in order. A name may occur more than once."""

_MAX_README = 200_000
_TYPES = {".md": "text/markdown", ".rst": "text/x-rst", ".txt": "text/plain"}
_PLAIN = {
    "description": "Summary",
    "author": "Author",
    "author_email": "Author-email",
    "maintainer": "Maintainer",
    "maintainer_email": "Maintainer-email",
    "license": "License",
    "url": "Home-page",
    "keywords": "Keywords",
}


def fields_of(tree: Path, document: Mapping[str, Any]) -> Fields:
    """Return the metadata of a project.

    If several files state a field with a single value, the first one counts.

    The order is: the `project` table, Poetry's table, then setup.py and setup.cfg.

    Args:
        tree: the project.
        document: its pyproject.toml.

    Raises:
        DeclarationError: a file cannot be read.
    """
    given, poetry = table(document, "project"), table(document, "tool", "poetry")
    older = {**setup_arguments(tree), **read_ini(tree, "setup.cfg").get("metadata", {})}
    found = [*_from_project(given), *_from_poetry(poetry), *_from_setup(older)]
    single: dict[str, str] = {}
    many: list[tuple[str, str]] = []
    for name, value in found:
        text = " ".join(value.split())
        if not text:
            continue
        if name in ("Classifier", "Project-URL"):
            many.append((name, text))
        else:
            single.setdefault(name, text)
    return (*single.items(), *dict.fromkeys(many))


def readme_of(tree: Path, document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type and text of the description. Both are empty without one of allowed size."""
    readme = table(document, "project").get("readme")
    stated = table({"it": readme}, "it")
    name = readme if isinstance(readme, str) else stated.get("file")
    if isinstance(stated.get("text"), str):
        return str(stated.get("content-type", "text/plain")), str(stated["text"])
    if not isinstance(name, str):
        return "", ""
    try:
        text = read_text(tree, name) or ""
    except DeclarationError:
        return "", ""
    kind = str(stated.get("content-type") or _TYPES.get(Path(name).suffix.lower(), "text/plain"))
    return (kind, text) if len(text) <= _MAX_README else ("", "")


def _from_project(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Summary", str(given.get("description", ""))
    yield "Keywords", ",".join(texts(given.get("keywords")))
    for key, field in (("authors", "Author"), ("maintainers", "Maintainer")):
        yield from _people(given.get(key), field)
    stated = given.get("license")
    if isinstance(stated, str):
        yield "License-Expression", stated
    yield "License", str(table(given, "license").get("text", ""))
    yield from (("Classifier", each) for each in texts(given.get("classifiers")))
    yield from (("Project-URL", f"{name}, {url}") for name, url in table(given, "urls").items())


def _people(value: object, field: str) -> Iterator[tuple[str, str]]:
    entries = [
        table({"it": each}, "it")
        for each in cast("Sequence[object]", value if isinstance(value, list) else ())
    ]
    addressed = [each for each in entries if each.get("email")]
    yield (
        field,
        ", ".join(str(each["name"]) for each in entries if each.get("name") and not each.get("email")),
    )
    yield (
        f"{field}-email",
        ", ".join(
            f"{each['name']} <{each['email']}>" if each.get("name") else str(each["email"])
            for each in addressed
        ),
    )


def _from_poetry(poetry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Summary", str(poetry.get("description", ""))
    yield "Keywords", ",".join(texts(poetry.get("keywords")))
    people = [re.fullmatch(r"([^<\n]+)<(.+)>", each) for each in texts(poetry.get("authors"))]
    yield "Author", ", ".join(each.group(1).rstrip() for each in people if each)
    yield "Author-email", ", ".join(each.group(2) for each in people if each)
    yield "License", str(poetry.get("license", ""))
    yield "Home-page", str(poetry.get("homepage", ""))
    yield from (("Classifier", each) for each in texts(poetry.get("classifiers")))
    for key, label in (("repository", "Repository"), ("documentation", "Documentation")):
        if poetry.get(key):
            yield "Project-URL", f"{label}, {poetry[key]}"
    yield from (("Project-URL", f"{name}, {url}") for name, url in table(poetry, "urls").items())


def _from_setup(older: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, field in _PLAIN.items():
        value = older.get(key)
        if isinstance(value, str) and not value.startswith(("attr:", "file:")):
            yield field, value
    yield from (
        ("Classifier", each) for each in texts(older.get("classifiers")) if not each.startswith("file:")
    )
    urls = older.get("project_urls")
    pairs = (
        cast("Mapping[str, object]", urls).items()
        if isinstance(urls, dict)
        else ((name.strip(), url.strip()) for name, _, url in (each.partition("=") for each in texts(urls)))
    )
    yield from (("Project-URL", f"{name}, {url}") for name, url in pairs)
