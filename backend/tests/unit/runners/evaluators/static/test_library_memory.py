"""What is learnt about libraries makes first checks quick, and tells no run of another."""

import sqlite3
from collections.abc import Hashable
from contextlib import closing
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from typing_extensions import override

from app.runners.evaluators.deterministic import TypeCheckEvaluator
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.static.checker_memory import CheckerMemory, pack, unpack
from app.runners.evaluators.static.library_memory import LibraryMemory
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

CLEAN = {"own_module.py": "import pytest\n\n\ndef f(x: int) -> int:\n    return x\n"}
WRONG = {"own_module.py": "import pytest\n\n\ndef f(x: int) -> str:\n    return x\n"}


class Kept(CheckerMemory):
    """Shows what was kept last."""

    def __init__(self) -> None:
        super().__init__()
        self.last: tuple[Hashable, bytes] = ("", b"")

    @override
    def keep(self, key: Hashable, data: bytes) -> None:
        self.last = (key, data)
        super().keep(key, data)


LEARNT: list[tuple[Hashable, bytes]] = []
"""What the first test learnt; to learn the same again takes seconds."""


class Lab:
    """An evaluator that has learnt, and what it keeps."""

    def __init__(self, context) -> None:
        self.kept = Kept()
        self.evaluator = TypeCheckEvaluator(
            timeout=PATIENCE, libraries=LibraryMemory(self.kept), unconfigured="fail"
        )
        self._context = context

    async def check(self, files, base=None, run_id: UUID | None = None) -> EvaluationResult:
        made = {**self._context(files, base), "run_id": run_id or uuid4()}
        return await self.evaluator.evaluate("coding", "", made)

    async def know(self) -> tuple[Hashable, bytes]:
        if not LEARNT:
            await self.learn()
            LEARNT.append(self.kept.last)
        self.kept.keep(*LEARNT[0])
        return LEARNT[0]

    async def learn(self) -> bytes:
        for _ in range(2):
            await self.evaluator.libraries.learnt()
            assert self.kept.size == 0, "one run is not worth it"
            assert (await self.check(CLEAN)).status == "passed"
        await self.evaluator.libraries.learnt()
        return self.kept.last[1]


def remembered(directory: Path) -> set[str]:
    names: set[str] = set()
    for path in directory.rglob("*.db"):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT path FROM files2")
            names |= {part.split(".")[0] for (name,) in rows for part in Path(name).parts}
    return names


async def test_libraries_are_learnt_once_and_nothing_of_a_run(context, tmp_path: Path) -> None:
    lab = Lab(context)
    unpack(await lab.learn(), tmp_path / "known")
    LEARNT[:] = [lab.kept.last]
    names = remembered(tmp_path / "known")
    assert {"pytest", "decimal"} <= names
    assert "own_module" not in names
    size = lab.kept.size
    assert (await lab.check(WRONG, {})).metadata["error_count"] == 1
    assert (await lab.check(CLEAN, {})).status == "passed"
    await lab.evaluator.libraries.learnt()
    assert lab.kept.size == size


async def test_attempts_of_one_run_are_not_worth_learning(context) -> None:
    lab, run_id = Lab(context), uuid4()
    for _ in range(3):
        assert (await lab.check(CLEAN, run_id=run_id)).status == "passed"
    await lab.evaluator.libraries.learnt()
    assert lab.kept.size == 0


async def test_a_module_that_is_named_like_a_library_is_checked(context) -> None:
    lab = Lab(context)
    await lab.know()
    own = {
        "decimal.py": "def f() -> int:\n    return ''\n",
        "use.py": "from decimal import f\n\nx: str = f()\n",
    }
    result = await lab.check(own, {})
    assert {each["file"] for each in result.metadata["findings"]} == {"decimal.py", "use.py"}


async def test_what_is_known_and_damaged_is_no_verdict(context, tmp_path: Path) -> None:
    lab = Lab(context)
    key, packed = await lab.know()
    unpack(packed, tmp_path / "known")
    for path in (tmp_path / "known").rglob("*.db"):
        path.write_bytes(b"no database " * 1000)
    for damaged in (pack(tmp_path / "known"), b"not an archive"):
        lab.kept.keep(key, damaged)
        assert (await lab.check(WRONG, {})).metadata["error_count"] == 1
