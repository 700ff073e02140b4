"""Draws which expectations are changed, and to which values. Uses only data and chance."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, apply_edits
from app.runners.evaluators.testing.counter_tests.data_files import wrong_data
from app.runners.evaluators.testing.counter_tests.literals import matches, read_plain, wrong_texts
from app.runners.evaluators.testing.counter_tests.reading import TestFile, TestFunction
from app.runners.evaluators.testing.counter_tests.sites import DataPlace, Kind, Leaf, Site
from app.runners.evaluators.testing.layout.inventory import file_of, function_of

_ROWS_FIRST = 0.75
_DEEPEST = 8
_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Unit:
    """A test function with its tests.

    Attributes:
        file: the file of the function.
        function: its source.
        tests: ids of its tests, in the order of collection.
    """

    file: TestFile
    function: TestFunction
    tests: tuple[str, ...]

    @property
    def has_plain_rows(self) -> bool:
        """True if each test is a row of parameters, in order."""
        return 0 < self.function.rows == len(self.tests)


@dataclass(frozen=True, slots=True)
class WrongExpectation:
    """An expectation made wrong.

    Attributes:
        unit: the function with the expectation.
        tests: ids of the tests that it makes wrong.
        site: the place.
        edits: edits of the file.
        texts: data files that hold the wrong expectation, by name.
        late: whether a text is misspelt in its last third or in its first. An unnoticed change is repeated in
            the same third.
        elsewhere: whether the next change is to be in another place, or in the other third.
    """

    unit: Unit
    tests: tuple[str, ...]
    site: Site
    edits: tuple[Edit, ...]
    texts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    late: bool | None = None
    elsewhere: bool = False

    @property
    def says(self) -> str:
        """The expectation after the change, shortened."""
        if self.texts:
            return f"{self.site.data} changed in {', '.join(self.texts)}"[:_SHOWN_CHARS]
        return b" ... ".join(each.text for each in self.edits).decode("utf-8", "replace")[:80].strip()


def units_of(files: Iterable[TestFile], ids: Sequence[str]) -> list[Unit]:
    """Sort tests by their functions. Tests without a function in the files are left out."""
    known = Inventory(files)
    tests: dict[tuple[str, str], list[str]] = defaultdict(list)
    found: dict[tuple[str, str], tuple[TestFile, TestFunction]] = {}
    for test in ids:
        home = known.home(test)
        if home is not None:
            key = home[0].name, home[1].name
            tests[key].append(test)
            found[key] = home
    return [Unit(file, function, tuple(tests[key])) for key, (file, function) in found.items()]


class Inventory:
    """Finds the functions of tests, including inherited ones.

    Args:
        files: all test files.
    """

    def __init__(self, files: Iterable[TestFile]) -> None:
        self._files = {each.name: each for each in files}
        self._classes: dict[str, list[TestFile]] = defaultdict(list)
        for file in self._files.values():
            for name in file.bases:
                self._classes[name].append(file)

    def home(self, test: str) -> tuple[TestFile, TestFunction] | None:
        """Return the file and the function of a test."""
        file = self._files.get(file_of(test))
        return self._find(file, function_of(test).partition("::")[2], 0) if file else None

    def _find(self, file: TestFile, name: str, depth: int) -> tuple[TestFile, TestFunction] | None:
        function = file.functions.get(name)
        if function is not None or depth > _DEEPEST:
            return (file, function) if function else None
        holder, _, method = name.rpartition("::")
        bases = file.bases.get(holder)
        if bases is None:
            # An imported class is also collected in the file that imports it.
            place = self._only_with(holder)
            return self._find(place, name, depth + 1) if place and place is not file else None
        for base in bases:
            place = file if base in file.bases else self._only_with(base.rpartition(".")[2])
            found = self._find(place, f"{base.rpartition('.')[2]}::{method}", depth + 1) if place else None
            if found is not None:
                return found
        return None

    def _only_with(self, name: str) -> TestFile | None:
        files = self._classes.get(name, [])
        return files[0] if len(files) == 1 else None


def units_with(units: Iterable[Unit], wanted: Collection[str]) -> list[Unit]:
    """Return the units that have any of the wanted tests."""
    return [each for each in units if any(test in wanted for test in each.tests)]


def draw_all(
    units: Iterable[Unit], chance: Random, wanted: Collection[str], tried: Mapping[str, WrongExpectation]
) -> list[WrongExpectation]:
    """Draw an expectation for each test of some units; see `draw`.

    Texts are misspelt in their first third and in their last third alternately. So code that only knows the
    end of an expected text, or the beginning, meets both.
    """
    late = chance.random() < 0.5
    found: list[WrongExpectation] = []
    for unit in units:
        found += draw(unit, chance, wanted, tried, late=late)
        late = not late
    return found


def draw(
    unit: Unit,
    chance: Random,
    wanted: Collection[str],
    tried: Mapping[str, WrongExpectation],
    *,
    late: bool | None = None,
) -> list[WrongExpectation]:
    """Draw an expectation for each test of a unit that has one.

    Args:
        unit: the function.
        chance: decides.
        wanted: the tests in question.
        tried: by test, the earlier change that went unnoticed. It is changed again, to another value.
        late: whether texts are misspelt in their last third, and every other row's in its first; None leaves
            it to chance.
    """
    body = [each for each in unit.function.sites if each.row is None]
    rows: dict[int, list[Site]] = defaultdict(list)
    for site in unit.function.sites if unit.has_plain_rows else ():
        if site.row is not None:
            rows[site.row].append(site)
    if rows and (not _prove_values(body) or chance.random() < _ROWS_FIRST):
        chosen = {row: unit.tests[row] for row in rows if unit.tests[row] in wanted}
        drawn = [
            _one(unit, (test,), rows[row], chance, tried.get(test), None if late is None else late == row % 2)
            for row, test in chosen.items()
        ]
    else:
        before = next((tried[test] for test in unit.tests if test in tried), None)
        drawn = [_one(unit, unit.tests, body, chance, before, late)]
    return [each for each in drawn if each is not None]


def _prove_values(sites: Iterable[Site]) -> bool:
    return any(_worth(each) == 0 for each in sites)


def _one(
    unit: Unit,
    tests: tuple[str, ...],
    sites: Sequence[Site],
    chance: Random,
    before: WrongExpectation | None,
    late: bool | None,
) -> WrongExpectation | None:
    """Change one of some sites: in the same place as before, or elsewhere, if there was an earlier change."""
    third = late if before is None else before.late
    if before is not None and before.elsewhere:
        sites = [each for each in sites if each != before.site] or sites
        third = None if before.late is None else not before.late
    elif before is not None:
        sites = [each for each in sites if each == before.site] or sites
    for site in _in_order(sites, chance):
        alternatives = [each for each in _alternatives(unit.file, site, chance, third) if each]
        if before is not None and len(alternatives) > 1:
            alternatives = [each for each in alternatives if each != before.edits]
        if alternatives:
            return WrongExpectation(unit, tests, site, alternatives[0], late=third)
    return None


def _in_order(sites: Sequence[Site], chance: Random) -> list[Site]:
    """Return sites in random order: the strongest evidence first, each assertion equally likely."""
    lines: dict[tuple[int, int], list[Site]] = defaultdict(list)
    for site in sites:
        lines[_worth(site), site.line].append(site)
    keys = list(lines)
    chance.shuffle(keys)
    return [chance.choice(lines[key]) for key in sorted(keys, key=lambda each: each[0])]


def _worth(site: Site) -> int:
    if site.kind is Kind.CONTRARY:
        return 2 if site.certain else 3
    return 0 if site.certain else 1


def _alternatives(file: TestFile, site: Site, chance: Random, late: bool | None) -> list[tuple[Edit, ...]]:
    if site.leaf is None:
        return chance.sample(site.edits, len(site.edits))
    leaf = site.leaf
    texts = wrong_texts(leaf.value, file.source.text(leaf.node), file.pool, chance, late=late)
    return [(file.source.replaced(leaf.node, text),) for text in texts if _is_wrong(leaf, text)]


def _is_wrong(leaf: Leaf, text: bytes) -> bool:
    """Return False for patterns that still match the true text, and for shorter texts to search for.

    A shorter text may be part of the text that contains the true one.
    """
    new = read_plain(text)
    if leaf.member and isinstance(new, str | bytes) and isinstance(leaf.value, str | bytes):
        return len(new) >= len(leaf.value)
    if not leaf.pattern:
        return True
    return isinstance(new, str) and isinstance(leaf.value, str) and matches(new, leaf.value) is False


def draw_data(
    units: Iterable[Unit],
    place: DataPlace,
    wanted: Collection[str],
    files: Mapping[str, bytes],
    chance: Random,
    tried: Mapping[str, WrongExpectation],
) -> list[WrongExpectation]:
    """Make one expectation of data files wrong, for every test that has it.

    Args:
        units: the functions.
        place: the expectation.
        wanted: the tests in question.
        files: the data files.
        chance: decides.
        tried: by test, the earlier change that went unnoticed.
    """
    texts = wrong_data(files, place, chance, [each.texts for each in tried.values()])
    sites = [(unit, site) for unit in units for site in unit.function.data if site.data == place]
    found: dict[str, WrongExpectation] = {}
    for unit, site in sites if texts else ():
        tests = tuple(each for each in unit.tests if each in wanted and each not in found)
        found.update(dict.fromkeys(tests, WrongExpectation(unit, tests, site, (), texts)))
    return list({id(each): each for each in found.values()}.values())


def rewritten(
    file: TestFile, changes: Iterable[WrongExpectation], left_out: Iterable[TestFunction]
) -> bytes | None:
    """Return the text of a file with changes, on the same lines, or None if the result cannot be parsed.

    Args:
        file: the file.
        changes: those of this file.
        left_out: functions that must not run; they get a name that is not a test's.
    """
    edits = {edit for change in changes for edit in change.edits}
    edits.update(each.hiding for each in left_out if each.hiding is not None)
    try:
        text = apply_edits(file.source.content, edits)
        parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return text if text.count(b"\n") == file.source.content.count(b"\n") else None
