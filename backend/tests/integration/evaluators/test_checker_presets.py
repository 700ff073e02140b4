"""`go vet` and clippy judge only what is new against the base, and what silences them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.registry import create_default_registry
from app.runners.project import panel_for
from tests.integration.evaluators.test_example_projects import RULES
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

PROGRAMS = {"go-vet": "/usr/bin/go", "clippy": "/usr/bin/cargo-clippy"}
GO_OLD = 'package m\n\nimport "fmt"\n\nfunc Old() { fmt.Printf("%d\\n", "old") }\n'
GO_FINE = 'package m\n\nimport "fmt"\n\nfunc Fine() { fmt.Printf("%s\\n", "fine") }\n'
GO_NEW = GO_FINE.replace("%s", "%d")
RUST_OLD = "pub fn old(values: &Vec<u32>) -> usize {\n    return values.len();\n}\n"
RUST_NEW = "\npub fn new(flag: bool) -> bool {\n    if flag == true { true } else { false }\n}\n"
BASES: dict[str, Mapping[str, str]] = {
    "go-vet": {"go.mod": "module m\n\ngo 1.18\n", "old.go": GO_OLD},
    "clippy": {
        "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": RUST_OLD,
    },
}
CASES: dict[str, tuple[str, Mapping[str, str], str, str]] = {
    "go vet: good": ("go-vet", {"new.go": GO_FINE}, "passed", "that the base already has"),
    "go vet: bad": ("go-vet", {"new.go": GO_NEW}, "failed", "new.go:5"),
    "go vet: moved by a line": (
        "go-vet",
        {"old.go": f"// Package m.\n{GO_OLD}"},
        "passed",
        "that the base already has",
    ),
    "go vet: it does not build": (
        "go-vet",
        {"new.go": "package m\n\nvar x int = nil\n"},
        "failed",
        "new.go:3",
    ),
    "go vet: left out of the build": (
        "go-vet",
        {"new.go": f"//go:build ignore\n\n{GO_NEW}"},
        "failed",
        "new.go:1",
    ),
    "clippy: good": (
        "clippy",
        {"src/lib.rs": f"//! Fine.\n{RUST_OLD}"},
        "passed",
        "that the base already has",
    ),
    "clippy: bad": ("clippy", {"src/lib.rs": RUST_OLD + RUST_NEW}, "failed", "src/lib.rs:6"),
    "clippy: allowed": (
        *("clippy", {"src/lib.rs": f"{RUST_OLD}\n#[allow(clippy::all)]{RUST_NEW}"}, "failed", "src/lib.rs:5"),
    ),
    "clippy: allowed for all": (
        *(
            "clippy",
            {"src/lib.rs": f"#![allow(clippy::all)]\n{RUST_OLD}{RUST_NEW}"},
            "failed",
            "src/lib.rs:1",
        ),
    ),
}


async def judge(preset: str, changes: Mapping[str, str], place: Path) -> EvaluationResult:
    for name, files in (("base", BASES[preset]), ("candidate", {**BASES[preset], **changes})):
        for file, text in files.items():
            (place / name / file).parent.mkdir(parents=True, exist_ok=True)
            (place / name / file).write_text(text)
    text = f'[[command]]\nname = "check"\npreset = "{preset}"\ntimeout = {PATIENCE:g}\n'
    found = panel_for(create_default_registry(), text.encode(), RULES)
    assert found.problems == ()
    gate = next(
        each.evaluator for each in found.registry.all_registrations() if each.evaluator.name == "check"
    )
    return await gate.evaluate(
        "coding", "", {"workspace_ref": str(place / "candidate"), "base_ref": str(place / "base")}
    )


@pytest.mark.parametrize(
    ("preset", "changes", "status", "told"),
    [
        pytest.param(
            *case,
            id=name,
            marks=pytest.mark.skipif(shutil.which(PROGRAMS[case[0]]) is None, reason="not installed"),
        )
        for name, case in CASES.items()
    ],
)
async def test_a_change(
    tmp_path: Path, preset: str, changes: Mapping[str, str], status: str, told: str
) -> None:
    result = await judge(preset, changes, tmp_path)
    assert result.status == status, result.feedback
    assert told in result.feedback
