"""A module counts as unchanged only if every name, every method and all code is as it was."""

from types import ModuleType
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_runner.module_state import ModuleState, parts_of

SOURCE = """
from functools import partial

LIMIT = 3
_hidden = 4

def run():
    return 1

def other():
    return 2

bound = partial(run)

class Box:
    size = 1

    def open(self):
        return run()

    @property
    def weight(self):
        return 1

    @staticmethod
    def make():
        return Box()

box = Box()
"""


class Proxy:
    """Equal to everything, as an object of forged code may be."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@pytest.fixture
def module() -> Any:
    made = ModuleType("boxes")
    exec(SOURCE, vars(made))
    return made


def nothing(module: Any) -> None:
    module.Box().open()


def code(module: Any) -> None:
    module.run.__code__ = module.other.__code__


def code_of_property(module: Any) -> None:
    vars(module.Box)["weight"].fget.__code__ = (lambda self: 2).__code__


def code_of_static_method(module: Any) -> None:
    vars(module.Box)["make"].__func__.__code__ = module.other.__code__


def static_method_again(module: Any) -> None:
    vars(module.Box)["make"].__init__(module.other)


def partial_again(module: Any) -> None:
    module.bound.__setstate__((module.other, (), {}, None))


def class_of_object(module: Any) -> None:
    module.box.__class__ = Proxy


def method(module: Any) -> None:
    module.Box.open = lambda _: 2


def equal_value(module: Any) -> None:
    module.LIMIT = Proxy()


def private(module: Any) -> None:
    module._hidden = 5


def deleted(module: Any) -> None:
    del module.run


def added(module: Any) -> None:
    module.Box.extra = 1


def swapped(module: Any) -> None:
    module.run, module.other = module.other, module.run


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        (nothing, True),
        *((each, False) for each in (code, code_of_property, code_of_static_method, method, equal_value)),
        *((each, False) for each in (private, deleted, added, swapped)),
        *((each, False) for each in (static_method_again, partial_again, class_of_object)),
    ],
)
def test_any_change_is_seen(module: Any, change: Any, is_kept: bool) -> None:
    state = ModuleState("boxes", module)
    change(module)
    assert state.is_kept_by(module) is is_kept


def test_another_module_with_the_same_contents_is_another_one(module: Any) -> None:
    other = ModuleType("boxes")
    vars(other).update(vars(module))
    assert not ModuleState("boxes", module).is_kept_by(other)


def test_the_parts_are_those_of_that_time(module: Any) -> None:
    state, before = ModuleState("boxes", module), dict(parts_of("boxes", module))
    method(module)
    module.LIMIT = 4
    assert state.parts() == before
    assert (before["boxes.LIMIT"], "boxes._hidden" in before) == (3, False)
    assert dict(parts_of("boxes", module))["boxes.Box.open"] is not before["boxes.Box.open"]
