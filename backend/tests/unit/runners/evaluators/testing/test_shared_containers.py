"""Both processes see changes of a container that they share, and send nothing while it stays the same."""

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_outside.containers import Containers

INNER = [1]


def shared(value: Any) -> Containers:
    containers = Containers(0, lambda: None)

    def encode(each: Any) -> Any:
        return containers.encode(each, encode) if isinstance(each, list) else each

    containers.encode(value, encode)
    return containers


def changes(containers: Containers) -> list[Any]:
    return [content for _, content in containers.changes(lambda each: each)]


@pytest.mark.parametrize(
    ("value", "change", "content"),
    [
        pytest.param([1, 2], lambda it: it.append(3), [1, 2, 3], id="list grows"),
        pytest.param([1000, 2], lambda it: it.__setitem__(0, 1001), [1001, 2], id="list changes"),
        pytest.param([1, 2], lambda it: it.reverse(), [2, 1], id="list turns"),
        pytest.param({"a": 1}, lambda it: it.update(a=2), [["a", 2]], id="value changes"),
        pytest.param({"a": 1}, lambda it: it.update(b=it.pop("a")), [["b", 1]], id="key changes"),
        pytest.param(
            OrderedDict(a=1, b=2), lambda it: it.move_to_end("a"), [["b", 2], ["a", 1]], id="order changes"
        ),
        pytest.param(Counter("a"), lambda it: it.update("a"), [["a", 2]], id="counter counts"),
        pytest.param(defaultdict(int), lambda it: it["a"], [["a", 0]], id="default is made"),
        pytest.param({1}, lambda it: it.add(2), [1, 2], id="set grows"),
        pytest.param(deque([1, 2]), lambda it: it.rotate(), [2, 1], id="deque turns"),
        pytest.param(bytearray(b"a"), lambda it: it.extend(b"b"), "ab", id="bytes grow"),
        pytest.param([[1], 2], lambda it: it.__setitem__(0, INNER), [INNER, 2], id="inner is another"),
        pytest.param([[1], 2], lambda it: it.__setitem__(0, 1), [1, 2], id="inner is replaced"),
        pytest.param([[1], 2], lambda it: it.__setitem__(1, 3), [[1], 3], id="changes beside an inner"),
        pytest.param([2, 2], lambda it: it.__setitem__(0, INNER), [INNER, 2], id="inner is new"),
    ],
)
def test_a_change_is_sent_once(value: Any, change: Any, content: Any) -> None:
    containers = shared(value)
    assert changes(containers) == []
    change(value)
    assert changes(containers) == [content]
    assert changes(containers) == []


def test_an_ordered_dictionary_arrives_in_its_order() -> None:
    value = OrderedDict(a=1, b=2)
    value.move_to_end("a")
    sent = shared(value).encode(OrderedDict(value), lambda each: each)
    arrived = Containers(1, lambda: None).decode(sent, lambda each: each)
    assert arrived == value
    assert list(arrived) == ["b", "a"]


def test_what_nobody_holds_is_forgotten() -> None:
    containers = shared([[1], [2]])
    assert len(containers.prune()) == 3


def test_of_many_containers_new_ones_are_forgotten_once_in_a_while() -> None:
    held = [[each] for each in range(1000)]
    containers = shared(held)
    assert containers.prune() == []
    for each in range(200):
        containers.encode([each], lambda inner: inner)
        assert containers.prune() == []
    for each in range(100):
        containers.encode([each], lambda inner: inner)
    assert len(containers.prune()) == 300
