"""The base's scripts in the candidate's package.json."""

from collections.abc import Mapping

from app.runners.evaluators.commands.package_json import package_texts
from tests.unit.runners.evaluators.conftest import Tree

NODE = {"package.json": '{"scripts": {"test": "node --test"}}', "test/a.test.js": "", "a.js": ""}


def texts(tree: Tree, text: str) -> Mapping[str, bytes]:
    return package_texts(tree(NODE), tree(NODE | {"package.json": text}), ["npm", "test"], "", ())


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
