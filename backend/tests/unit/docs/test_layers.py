"""The tables of layers and rooms in docs/architecture.md are those that import-linter enforces."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[4]
Layers = list[frozenset[str]]


def documented() -> dict[str, Layers]:
    """The first cells of each table below a heading that names a package, by that package."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = {}
    for section in re.split(r"^#{2,3} ", page, flags=re.MULTILINE):
        heading, _, text = section.partition("\n")
        named = re.fullmatch(r"Rooms of `([a-z.]+)`", heading)
        package = named[1] if named else "app" if heading == "Layers" else None
        if package:
            rows = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
            found[package] = [frozenset(re.findall(r"`(\w+)`", row)) for row in rows]
    return found


def enforced() -> Iterator[tuple[str, Layers]]:
    """Each contract about the layers of one package; those between root packages are not in the tables."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        layers = [re.split(r"\s*[|:]\s*", layer) for layer in contract.get("layers", [])]
        if "containers" in contract:
            yield contract["containers"][0], [frozenset(layer) for layer in layers]
        elif layers and all(name.startswith("app.") for layer in layers for name in layer):
            yield "app", [frozenset(name.removeprefix("app.") for name in layer) for layer in layers]


def test_every_contract_has_its_table_and_every_table_its_contract() -> None:
    assert documented() == dict(enforced())


def test_the_tables_are_not_empty() -> None:
    assert all(len(layers) > 1 and all(layers) for layers in documented().values())
