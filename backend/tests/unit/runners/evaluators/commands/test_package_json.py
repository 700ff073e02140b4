"""The base's scripts in the candidate's package.json."""

from collections.abc import Mapping

import pytest

from app.runners.evaluators.commands.package_json import package_texts
from tests.unit.runners.evaluators.conftest import Tree

NODE = {"package.json": '{"scripts": {"test": "node --test"}}', "test/a.test.js": "", "a.js": ""}


def texts(tree: Tree, text: str) -> Mapping[str, bytes]:
    return package_texts(tree(NODE), tree(NODE | {"package.json": text}), ["npm", "test"], NODE, ())


def test_scripts_of_a_package_are_the_bases(tree: Tree) -> None:
    text = '{"version": "2", "scripts": {"test": "true", "pretest": "rm -r test", "start": "node a.js"}}'
    found = texts(tree, text)["package.json"]
    assert b'"node --test"' in found
    assert b"pretest" not in found
    assert b'"start"' in found
    assert b'"version"' in found


def test_other_members_of_a_package_are_the_candidates(tree: Tree) -> None:
    text = '{"version": "2", "scripts": {"test": "node --test", "start": "node a.js"}}'
    assert not texts(tree, text)


def test_scripts_of_workspaces_are_the_bases(tree: Tree) -> None:
    base = {**NODE, "packages/a/package.json": '{"scripts": {"test": "node t.js"}}', "b/package.json": "{}"}
    changed = {**base, "packages/a/package.json": '{"scripts": {"test": "true"}}'}
    del changed["b/package.json"]
    found = package_texts(tree(base), tree(changed), ["npm", "test", "--workspaces"], base, ())
    assert list(found) == ["packages/a/package.json"]
    assert b"node t.js" in found["packages/a/package.json"]
    opened = package_texts(tree(base), tree(changed), ["npm", "test"], base, ("packages/*",))
    assert not opened


def test_a_manifest_that_the_command_needs_cannot_be_removed(tree: Tree) -> None:
    assert list(package_texts(tree(NODE), tree({"a.js": ""}), ["npm", "test"], NODE, ())) == ["package.json"]


@pytest.mark.parametrize(
    ("name", "command", "key"),
    [("composer.json", ["composer", "test"], "scripts"), ("deno.json", ["deno", "task", "test"], "tasks")],
)
def test_scripts_of_other_manifests_are_the_bases(
    tree: Tree, name: str, command: list[str], key: str
) -> None:
    base, lax = (
        {name: f'{{"{key}": {{"test": "check"}}}}'},
        {name: f'{{"{key}": {{"test": "true"}}, "a": 1}}'},
    )
    found = package_texts(tree(base), tree(lax), command, base, ())
    assert (b'"check"' in found[name], b'"a"' in found[name]) == (True, True)
    assert not package_texts(tree(base), tree(lax), ["npm", "test"], base, ())
