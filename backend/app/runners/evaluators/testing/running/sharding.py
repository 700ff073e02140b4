"""Shares the test files of a run among several processes, and joins their reports to one."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from app.runners.evaluators.testing.layout.config import option_words, options_of, settings_for
from app.runners.evaluators.testing.layout.setting import is_test_file
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport, lines_of_all
from app.workspaces.environments.pytest_commands import pytest_invocations, shares_tests

_USUAL_PROCESSES = 4
_FILES_OF_A_SHARD = 4
"""A shard with fewer test files would take longer to start than to run."""

_NO_TESTS = 5
"""The exit code of pytest if it collected nothing, as in a shard whose files all skip themselves."""


@dataclass(frozen=True, slots=True)
class Sharding:
    """How a whole run is shared.

    Attributes:
        processes: how many run at once.
        test_files: glob patterns of the test files.
    """

    processes: int
    test_files: tuple[str, ...]

    def shards_of(self, tree: RunTree) -> list[RunTree]:
        """Return trees that together run what `tree` runs, each test in one of them.

        Each gets about as much text, because it is not known how long a test takes. The first one also runs
        everything that is in no test file, such as doctests. The same files are always shared alike.
        """
        sizes = {name: _size(tree, name) for name in self._shared(tree)}
        count = min(self.processes, len(sizes) // _FILES_OF_A_SHARD)
        if count < 2:
            return [tree]
        shards: list[list[str]] = [[] for _ in range(count)]
        loads = [0] * count
        for name in sorted(sizes, key=lambda each: (-sizes[each], each)):
            lightest = loads.index(min(loads))
            shards[lightest].append(name)
            loads[lightest] += sizes[name]
        others = frozenset(chain.from_iterable(shards[1:]))
        return [
            replace(tree, elsewhere=others),
            *(replace(tree, only=frozenset(each)) for each in shards[1:]),
        ]

    def _shared(self, tree: RunTree) -> Iterator[str]:
        for name in tree.files if tree.only is None else tree.only:
            if name.endswith(".py") and is_test_file(name, self.test_files):
                yield name


def sharding_at(base: Path, processes: int | None) -> Sharding | None:
    """Return how the tests of a project are shared; None if its own commands do not run them in parallel.

    Tests that their authors run in parallel do not depend on those of other files.

    Args:
        base: the tree with the configuration that counts.
        processes: at most; None means one for each core, up to four.
    """
    count = min(_USUAL_PROCESSES, _cores()) if processes is None else processes
    if count < 2 or not _is_parallel(base):
        return None
    return Sharding(count, settings_for(base, base).test_files)


def whole_of(shards: Sequence[RunReport]) -> RunReport:
    """Return the report of a run whose tests were shared.

    It ended as the first shard that did not complete. Its seconds are those of all processes added up.
    """
    ended = [each for each in shards if each.ending is not PytestEnding.COMPLETE]
    with_tests = [each for each in shards if each.code != _NO_TESTS]
    worst = (ended or sorted(with_tests or shards, key=lambda each: each.code or 0, reverse=True))[0]
    return replace(
        worst,
        ids=_all(each.ids for each in shards),
        places=_places(shards),
        tests={name: test for each in shards for name, test in each.tests.items()},
        problems=tuple({one.id: one for each in shards for one in each.problems}.values()),
        deselected=sum(each.deselected for each in shards),
        left_out=_all(each.left_out for each in shards),
        forged=_all(each.forged for each in shards),
        altered=_all(each.altered for each in shards),
        altered_by_others=_all(each.altered_by_others for each in shards),
        noticed={name: files for each in reversed(shards) for name, files in each.noticed.items()},
        wide=_all(each.wide for each in shards),
        wide_by_others=_all(each.wide_by_others for each in shards),
        ran_lines=lines_of_all(shards),
        rewritten=_all(each.rewritten for each in shards),
        canaries_ran=all(each.canaries_ran for each in shards),
        foreign={name: place for each in shards for name, place in each.foreign.items()},
        text="\n".join(each.text for each in sorted(shards, key=lambda each: each is worst)),
        seconds=worst.seconds if ended else sum(each.seconds for each in shards),
    )


def _cores() -> int:
    """Return how many cores this process may use; where the system does not tell, how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_parallel(base: Path) -> bool:
    found = options_of(base)
    options = option_words(found[1].get("addopts")) if found else []
    return shares_tests(options) or any(map(shares_tests, pytest_invocations(base)))


def _size(tree: RunTree, name: str) -> int:
    with suppress(OSError):
        return (tree.files[name] / name).stat().st_size
    return 0


def _all(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def _places(shards: Sequence[RunReport]) -> dict[str, int]:
    """Number the tests on from shard to shard."""
    places: dict[str, int] = {}
    for each in shards:
        first = len(places)
        places |= {name: first + place for name, place in each.places.items()}
    return places
