"""A set-up by `npm ci`, run by npm itself: what it installs is there, and what it cannot install is named.

The package lies in the repository as an archive, so that no registry is needed.
"""

import base64
import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from app.core.config import Settings
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.services.local.findings import findings_of
from tests.integration.evaluators.support import commit_all, judging_with, lay_out
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]

RULES = f"""\
[evaluators]
pytest = {{ enabled = false }}
ruff_lint = {{ enabled = false }}
type_check = {{ enabled = false }}
[environment]
setup = ["npm ci"]
timeout = {PATIENCE:g}
[[command]]
name = "unit"
preset = "node-test"
timeout = {PATIENCE:g}
"""
ARCHIVE = "vendor/cups-1.0.0.tgz"
PACKAGE = {
    "package.json": '{"name": "cups", "version": "1.0.0", "type": "module", "main": "index.js"}',
    "index.js": "export const perLitre = 4;\n",
}
CODE = 'import { perLitre } from "cups";\nexport const cups = (litres) => litres * perLitre;\n'
FILES = {
    "phaserunner.toml": RULES,
    ".gitignore": "node_modules\n",
    "cup.js": CODE,
    "cup.test.js": 'import assert from "node:assert";\nimport test from "node:test";\n'
    'import { cups } from "./cup.js";\n\ntest("cups", () => assert.equal(cups(2), 8));\n',
}


def archive() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in PACKAGE.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def manifests(wanted: str, locked: dict[str, Any]) -> dict[str, str]:
    """Give a manifest that wants a version or place of the package, and a lock file."""
    own = {"name": "tea", "version": "1.0.0"}
    needs = {"dependencies": {"cups": wanted}}
    root = {"": own | (needs if locked else {})}
    lock = {**own, "lockfileVersion": 3, "requires": True, "packages": root | locked}
    return {
        "package.json": json.dumps({**own, **needs, "type": "module"}),
        "package-lock.json": json.dumps(lock),
    }


def locked_at(resolved: str) -> dict[str, Any]:
    digest = base64.b64encode(hashlib.sha512(archive()).digest()).decode()
    entry = {"version": "1.0.0", "resolved": resolved, "integrity": f"sha512-{digest}"}
    return {"node_modules/cups": entry}


async def judged(place: Path, files: dict[str, str], change: dict[str, str]) -> EvaluationReport:
    project = place / "project"
    lay_out(project, {**FILES, **files})
    (project / "vendor").mkdir()
    (project / ARCHIVE).write_bytes(archive())
    commit_all(project, "Start")
    lay_out(project, change)
    async with judging_with(Settings(_env_file=None, DATA_DIR=place / "data")) as judging:
        request = EvaluateRequest(path=str(project), base="HEAD", deterministic_only=True)
        return await judging.judge(request)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        pytest.param(f"// Better.\n{CODE}", "passed", id="good"),
        pytest.param(CODE.replace("* perLitre", "+ perLitre"), "failed", id="bad"),
    ],
)
async def test_commands_find_what_npm_installed(tmp_path: Path, code: str, verdict: str) -> None:
    files = manifests(f"file:{ARCHIVE}", locked_at(f"file:{ARCHIVE}"))
    report = await judged(tmp_path, files, {"cup.js": code})
    assert report.verdict == verdict, findings_of(report)
    assert not (tmp_path / "project" / "node_modules").exists()


@pytest.mark.parametrize(
    ("wanted", "locked", "told"),
    [
        pytest.param(
            f"file:{ARCHIVE}",
            {},
            ["Missing: cups@1.0.0", "The lock file does not fit: run `npm install`, and commit it."],
            id="a lock file that does not fit",
        ),
        pytest.param(
            "^1.0.0",
            locked_at("https://registry.invalid/cups/-/cups-1.0.0.tgz"),
            ["The set-up has no network: see [environment] network."],
            id="a registry that is away",
        ),
    ],
)
async def test_what_npm_cannot_install_is_no_verdict_and_has_a_next_step(
    tmp_path: Path, wanted: str, locked: dict[str, Any], told: list[str]
) -> None:
    files = manifests(wanted, locked)
    report = await judged(tmp_path, files, {"cup.js": f"// Better.\n{CODE}"})
    assert report.verdict == "errored"
    (finding,) = findings_of(report)
    assert all(each in finding.message for each in told), finding.message
