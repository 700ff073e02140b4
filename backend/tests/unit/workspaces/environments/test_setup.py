"""A set-up runs once per state of the lock files; what it makes reaches every copy and changes nowhere."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import WorkspaceError
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.locks import changed_locks, with_locks_of
from app.workspaces.environments.masking import mask, mask_bytes
from app.workspaces.environments.setup import Recipe, SetupError, Setups, setup_variables
from app.workspaces.environments.shelf import Shelf

pytestmark = pytest.mark.anyio

SECRET = "hush-hush-1234"
RECIPE = Recipe(lines=("mkdir -p web/node_modules/tool && echo made > web/node_modules/tool/index.js",))


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def setups(tmp_path: Path, mode: SandboxMode = SandboxMode.OFF) -> Setups:
    return Setups(Shelf(tmp_path / "shelf"), Sandbox(SandboxSettings(mode=mode)))


async def laid(made: Setups, recipe: Recipe, base: Path, copy: Path, locks: Path | None = None) -> Path:
    """A copy's files after what a set-up made was laid in; its home is beside it."""
    async with made.lent(recipe, base, locks) as kept:
        await asyncio.to_thread(copy.mkdir, exist_ok=True)
        await asyncio.to_thread(kept.lay, copy, copy.with_name(f"{copy.name}-home"))
    return copy


@pytest.mark.parametrize("mode", [SandboxMode.OFF, SandboxMode.PREFERRED])
async def test_what_it_makes_is_laid_into_copies(tmp_path: Path, mode: SandboxMode) -> None:
    base = tree(tmp_path / "base", {"web/package.json": "{}", "web/a.js": "1"})
    recipe = replace(
        RECIPE,
        lines=(
            *RECIPE.lines,
            "mkdir -p $HOME/.cargo && echo cached > $HOME/.cargo/registry; ln -s tool web/node_modules/link",
            "echo changed > web/a.js; touch $npm_config_cache; touch $TMPDIR/x",
        ),
    )
    copy = tree(tmp_path / "copy", {"web/node_modules/tool/index.js": "forged", "web/a.js": "candidate's"})
    await laid(setups(tmp_path, mode), recipe, base, copy)
    assert (copy / "web/node_modules/tool/index.js").read_text() == "made\n"
    assert (copy / "web/node_modules/link").readlink() == Path("tool")
    assert (copy / "web/a.js").read_text() == "candidate's", "only what is new counts"
    assert (tmp_path / "copy-home/.cargo/registry").read_text() == "cached\n"
    assert sorted(each.name for each in (tmp_path / "copy-home").iterdir()) == [".cargo"]


async def test_it_runs_once_per_state_of_the_lock_files(tmp_path: Path) -> None:
    log = tmp_path / "log"
    recipe = Recipe(lines=(f"echo run >> {log}",), lock_files=("deps.txt",))
    base = tree(tmp_path / "base", {"go.sum": "1", "deps.txt": "1", "main.go": "1"})
    made = setups(tmp_path)

    async def runs() -> int:
        await laid(made, recipe, base, tmp_path / "copy")
        return log.read_text().count("run")

    assert await runs() == 1
    assert await runs() == 1
    tree(base, {"main.go": "2", "node_modules/x/package.json": "{}"})
    assert await runs() == 1, "sources and installed packages decide nothing"
    tree(base, {"go.sum": "2"})
    assert await runs() == 2
    tree(base, {"deps.txt": "2"})
    assert await runs() == 3
    await asyncio.gather(*(laid(made, replace(recipe, directory="."), base, tmp_path / f"{n}") for n in "ab"))
    assert log.read_text().count("run") == 4, "two that ask at once share one"


async def test_it_runs_again_if_its_surroundings_change(tmp_path: Path) -> None:
    log = tmp_path / "log"
    base = tree(tmp_path / "base", {"a": "1"})
    tools = tree(tmp_path / "tools", {"node-18": "#!/bin/sh\n", "node-20": "#!/bin/sh\n"})
    for each in list(tools.iterdir()):
        each.chmod(0o755)
        os.utime(each, (1, 1))
    (tools / "node").symlink_to("node-18")
    made = replace(setups(tmp_path), path=f"{tools}:/usr/bin:/bin")

    async def runs(changed: Setups = made) -> int:
        await laid(changed, Recipe(lines=(f"echo run >> {log}",)), base, tmp_path / "copy")
        return log.read_text().count("run")

    assert await runs() == 1
    assert await runs() == 1
    (tools / "node").unlink()
    (tools / "node").symlink_to("node-20")
    assert await runs() == 2, "another version"
    os.utime(tools / "node-20", (99, 99))
    assert await runs() == 3, "an upgrade in place"
    assert await runs(replace(made, env={"GOPROXY": "https://go.example"})) == 4
    assert await runs(replace(made, path=f"{made.path}:{tmp_path}")) == 5
    assert await runs(replace(made, readable=(tools,))) == 6
    assert await runs() == 6


async def test_a_copy_cannot_lead_what_is_laid_out_of_itself(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", {"web/package.json": "{}"})
    outside, copy = tree(tmp_path / "outside", {"kept": "1"}), tree(tmp_path / "copy", {})
    copy.mkdir()
    (copy / "web").symlink_to(outside)
    with pytest.raises(WorkspaceError, match="web must be a directory"):
        await laid(setups(tmp_path), RECIPE, base, copy)
    assert [each.name for each in outside.iterdir()] == ["kept"]


async def test_links_that_lead_out_of_the_tree_are_not_kept(tmp_path: Path) -> None:
    base, outside = tree(tmp_path / "base", {"a": "1"}), tree(tmp_path / "outside", {"file": "1"})
    lines = (
        f"ln -s {outside} target; ln -s .. up; ln -s /no/such/place lost",
        f"mkdir -p m/bin; ln -s ../../../../.. m/above; ln -s {outside} m/bin/out; ln -s ../a.js m/bin/a",
        f"touch m/a.js; ln -s {outside}/file m/bin/python; ln -s bin m/same",
    )
    copy = await laid(setups(tmp_path), Recipe(lines=lines), base, tmp_path / "copy")
    kept = sorted(each.relative_to(copy).as_posix() for each in copy.rglob("*") if each.is_symlink())
    assert kept == ["m/bin/a", "m/bin/python", "m/same"], "an environment has a link to its interpreter"
    assert (copy / "m/a.js").exists()
    assert (outside / "file").exists()


TROUBLE = {
    "a failing line": (Recipe(lines=("true", "echo no such package >&2; exit 3")), "exit status 3: no such"),
    "a missing program": (Recipe(lines=("no_such_program_here",)), "exit status 127"),
    "too slow": (Recipe(lines=("sleep 5",), seconds=0.2), "took longer than 0.2 seconds"),
    "no directory": (Recipe(lines=("true",), directory="web"), "cannot start in web"),
    "a secret in the output": (
        Recipe(lines=(f"echo token {SECRET} >&2; exit 1",), secrets={"TOKEN": SECRET}),
        "token \\*\\*\\*",
    ),
}


@pytest.mark.parametrize(("recipe", "told"), TROUBLE.values(), ids=TROUBLE.keys())
async def test_a_set_up_that_fails_leaves_nothing(tmp_path: Path, recipe: Recipe, told: str) -> None:
    base = tree(tmp_path / "base", {"a": "1"})
    with pytest.raises(SetupError, match=told) as caught:
        await laid(setups(tmp_path), recipe, base, tmp_path / "copy")
    assert SECRET not in str(caught.value).replace(repr(recipe.lines[0]), "")
    assert not [each for each in (tmp_path / "shelf").iterdir() if each.is_dir()]


async def test_a_candidates_lock_files_are_installed_with_the_bases_scripts(tmp_path: Path) -> None:
    base = tree(
        tmp_path / "base",
        {"package.json": '{"scripts": {"prepare": "base"}}', "package-lock.json": "1", "a.js": "base"},
    )
    other = tree(
        tmp_path / "other",
        {
            "package.json": '{"scripts": {"prepare": "evil"}, "dependencies": {"x": "1"}}',
            "package-lock.json": "2",
            "a.js": "evil",
            ".npmrc": "registry=evil",
        },
    )
    recipe = Recipe(lines=("mkdir seen; cp -a package.json package-lock.json a.js seen; ls -a > seen/all",))
    copy = await laid(setups(tmp_path), recipe, base, tmp_path / "copy", other)
    seen = {each.name: each.read_text() for each in (copy / "seen").iterdir()}
    assert (seen["a.js"], seen["package-lock.json"]) == ("base", "2")
    assert "evil" not in seen["package.json"]
    assert '"x": "1"' in seen["package.json"]
    assert ".npmrc" not in seen["all"]


def test_changed_locks_are_named_and_manifests_alone_are_none(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", {"go.sum": "1", "Cargo.toml": "1", "web/yarn.lock": "1"})
    same = tree(tmp_path / "same", {"go.sum": "1", "Cargo.toml": "2", "web/yarn.lock": "1"})
    assert changed_locks(base, same) == ()
    other = tree(tmp_path / "other", {"go.sum": "2", "Cargo.toml": "2", "Cargo.lock": "new"})
    assert changed_locks(base, other) == ("Cargo.lock", "go.sum", "web/yarn.lock")
    with_locks_of(other, base)
    assert (base / "go.sum").read_text() == "2"


MASKED = {
    "plain": (f"a {SECRET} b", "a *** b"),
    "twice": (SECRET * 2, "******"),
    "as Base64": ("aHVzaC1odXNoLTEyMzQ=", "***"),
    "not there": ("a b", "a b"),
}


@pytest.mark.parametrize(("text", "expected"), MASKED.values(), ids=MASKED.keys())
def test_masking(text: str, expected: str) -> None:
    assert mask(text, [SECRET]) == expected
    assert mask_bytes(text.encode(), [SECRET]) == expected.encode()


def test_masking_knows_how_formats_write_a_secret() -> None:
    secret = 'a"b&c/d\nsecond line'
    for form in ('a\\"b&c/d\\nsecond line', "a%22b%26c%2Fd%0Asecond%20line", "a&quot;b&amp;c/d\nsecond line"):
        assert mask(f"<{form}>", [secret, ""]) == "<***>"
    assert mask("the second line alone", [secret]) == "the *** alone"
    assert mask("long-secret-part", ["secret-part", "long-secret-part"]) == "***"


def test_variables_of_the_operator_hold_no_credentials() -> None:
    given = {
        "npm_config_registry": "https://npm.example/",
        "GOPROXY": "https://user:password@go.example",
        "AWS_SECRET_ACCESS_KEY": "x",
        "SSL_CERT_FILE": "",
    }
    assert setup_variables(given) == {"npm_config_registry": "https://npm.example/"}
