"""Trees of files to judge."""

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

from app.runners.evaluators.protocol import EvaluationContext

Tree = Callable[[Mapping[str, str | bytes]], Path]
Context = Callable[..., EvaluationContext]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Writes files into a new directory, whose path holds a space."""
    numbers = count(1)

    def write(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / f"tree {next(numbers)}"
        root.mkdir()
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return write


@pytest.fixture
def context(tree: Tree) -> Context:
    """Writes a candidate, and perhaps a base, and gives the context that points to them."""

    def make(
        files: Mapping[str, str | bytes], base: Mapping[str, str | bytes] | None = None
    ) -> EvaluationContext:
        made = EvaluationContext(workspace_ref=str(tree(files)))
        if base is not None:
            made["base_ref"] = str(tree(base))
        return made

    return make
