"""A small user's repository with a defect, and scripts that mend it or do not."""

import subprocess
from pathlib import Path
from typing import Any

BROKEN = "def half(amount: int) -> int:\n    return amount // 3\n"
WORSE = "import os\n\n\ndef half(amount: int) -> int:\n    return amount // 4\n"
MENDED = "def half(amount: int) -> int:\n    return amount // 2\n"
TEST = "from shares import half\n\n\ndef test_half_of_eight() -> None:\n    assert half(8) == 4\n"
PLAN = (
    "# Plan\n\n1. `half` in shares.py divides by three; divide by two instead.\n"
    "2. Run tests/test_shares.py, which shows that half of eight is four.\n\n"
    "Risk: none, the function has one caller, and the test covers it.\n"
)


def git(repo: Path, *arguments: str) -> str:
    """Run git as a user would, without his configuration."""
    return subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@localhost", *arguments],
        cwd=repo,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def make_repository(path: Path) -> Path:
    """A repository with two commits, and a change that is not committed."""
    (path / "tests").mkdir(parents=True)
    (path / "README.md").write_text("Shares.\n")
    git(path, "init", "-q", "-b", "main")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "first")
    (path / "shares.py").write_text(BROKEN)
    (path / "ruff.toml").write_text("lint.select = ['F']\n")
    (path / "tests" / "test_shares.py").write_text(TEST)
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "shares")
    (path / "README.md").write_text("Not committed.\n")
    return path


def write(path: str, content: str) -> dict[str, Any]:
    """An edit that writes a file."""
    return {"kind": "write", "path": path, "content": content}


def step(say: str, *edits: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One attempt of a script."""
    return {"say": say, "edits": list(edits), **more}


DISCOVERY = [step("The plan is written. Discovery Complete", write("implementation_plan.md", PLAN))]
VERIFICATION = [step("All tests pass. VERIFICATION_SUCCESS")]


def script(*coding: dict[str, Any], **phases: Any) -> dict[str, Any]:
    """An agent specification that plays these coding attempts."""
    return {
        "backend": "scripted",
        "script": {
            "title": "test",
            "phases": {
                "discovery": DISCOVERY,
                "coding": list(coding),
                "verification": VERIFICATION,
                **phases,
            },
        },
    }


MENDS_WHEN_TOLD = script(
    step("Done. Coding Complete", write("shares.py", WORSE)),
    step("Mended. Coding Complete", write("shares.py", MENDED), expects=["test_half_of_eight", "F401"]),
)
NEVER_MENDS = script(
    *(
        step(f"Try {number}. Coding Complete", write("shares.py", WORSE.replace("4", str(number + 4))))
        for number in (1, 2, 3)
    ),
    step("Told what to do. Coding Complete", write("shares.py", MENDED), expects=["divide by two"]),
)
