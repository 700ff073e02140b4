"""Code in an older spelling means the same; code that only resembles it does not."""

from typing import NamedTuple

import pytest

from app.runners.evaluators.protection.changes import changes_between


class Pair(NamedTuple):
    """Two versions of a test file."""

    old: str
    new: str


def method(line: str, head: str = "class TestCart(Case):") -> str:
    return f"{head}\n    def test_it(self):\n        {line}\n"


def function(line: str, decorator: str = "") -> str:
    return f"{decorator}def test_it(a, b):\n    {line}\n"


SAME = {
    "object": Pair(method("check()", "class TestCart(object):"), method("check()", "class TestCart:")),
    "super": Pair(method("super(TestCart, self).setUp()"), method("super().setUp()")),
    "fixture": Pair(
        "@pytest.fixture()\ndef cart():\n    return 1\n", "@pytest.fixture\ndef cart():\n    return 1\n"
    ),
    "mark": Pair(function("check()", "@pytest.mark.slow()\n"), function("check()", "@pytest.mark.slow\n")),
    "set": Pair(function("check(set([a, b]))"), function("check({a, b})")),
    "set of a generator": Pair(function("check(set(x for x in a))"), function("check({x for x in a})")),
    "list of a generator": Pair(function("check(list(x for x in a))"), function("check([x for x in a])")),
    "empty list": Pair(function("check(list())"), function("check([])")),
    "tuple": Pair(function("check(tuple([a, b]))"), function("check((a, b))")),
    "dict": Pair(function("check(dict(a=1, b=b))"), function("check({'a': 1, 'b': b})")),
    "error": Pair(function("check(IOError)"), function("check(OSError)")),
    "error of a socket": Pair(function("check(socket.error)"), function("check(OSError)")),
    "views of six": Pair(function("check(six.iteritems(a.b))"), function("check(a.b.items())")),
    "types of six": Pair(
        function("check(isinstance(a, six.string_types))"), function("check(isinstance(a, str))")
    ),
    "what six moved": Pair(function("check(six.moves.range(3))"), function("check(range(3))")),
    "literals of six": Pair(function("check(six.u('a'), six.b('b'))"), function("check('a', b'b')")),
    "open": Pair(function("check(open(a, 'r'))"), function("check(open(a))")),
    "open by name": Pair(function("check(io.open(a, mode='rt'))"), function("check(open(a))")),
    "unittest": Pair(method("self.assertEquals(1, f())"), method("self.assertEqual(1, f())")),
    "isinstance": Pair(function("check(isinstance(a, (A, B)))"), function("check(isinstance(a, A | B))")),
    "names of rows": Pair(
        function("check(a, b)", "@pytest.mark.parametrize('a, b', [(1, 2)])\n"),
        function("check(a, b)", "@pytest.mark.parametrize(('a', 'b'), [(1, 2)])\n"),
    ),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_another_spelling_means_the_same(pair: Pair) -> None:
    assert changes_between(pair.old.encode(), pair.new.encode()) == []
    assert changes_between(pair.new.encode(), pair.old.encode()) == []


OTHER = {
    "base": Pair(method("check()", "class TestCart(Case):"), method("check()", "class TestCart:")),
    "super of another class": Pair(method("super(Case, self).setUp()"), method("super().setUp()")),
    "fixture with an argument": Pair(
        "@pytest.fixture(scope='module')\ndef cart():\n    return 1\n",
        "@pytest.fixture\ndef cart():\n    return 1\n",
    ),
    "decorator of the project": Pair(
        "@retried()\ndef cart():\n    return 1\n", "@retried\ndef cart():\n    return 1\n"
    ),
    "another view": Pair(function("check(six.iteritems(a))"), function("check(a.keys())")),
    "set of one value": Pair(function("check(set(a))"), function("check({a})")),
    "empty set": Pair(function("check(set([]))"), function("check({})")),
    "dict of a mapping": Pair(function("check(dict(**a))"), function("check({})")),
    "open to write": Pair(function("check(open(a, 'w'))"), function("check(open(a))")),
    "isinstance of fewer": Pair(
        function("check(isinstance(a, (A, B)))"), function("check(isinstance(a, A))")
    ),
    "other names of rows": Pair(
        function("check(a, b)", "@pytest.mark.parametrize('a, b', [(1, 2)])\n"),
        function("check(a, b)", "@pytest.mark.parametrize(('b', 'a'), [(1, 2)])\n"),
    ),
    "one name of rows": Pair(
        function("check(a, b)", "@pytest.mark.parametrize('a', [(1,)])\n"),
        function("check(a, b)", "@pytest.mark.parametrize(('a',), [(1,)])\n"),
    ),
}


@pytest.mark.parametrize("pair", OTHER.values(), ids=OTHER)
def test_what_only_resembles_it_is_a_change(pair: Pair) -> None:
    assert changes_between(pair.old.encode(), pair.new.encode())
