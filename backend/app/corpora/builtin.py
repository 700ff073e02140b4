"""The built-in corpora, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import InvalidInputError
from app.corpora.attacks import ATTACKS
from app.corpora.format import CorpusCase, check_corpus, read_corpus
from app.corpora.humaneval import humaneval_cases
from app.schemas.runs import Phase


@dataclass(frozen=True, slots=True)
class Build:
    """How a generated corpus is made.

    Attributes:
        data: the file that it is made from; None is the one in its package.
        mutations: the most mutations of each good solution.
        seed: chooses the mutations; the same seed gives the same cases.
    """

    data: Path | None = None
    mutations: int = 3
    seed: int = 0


def _humaneval(build: Build) -> tuple[CorpusCase, ...]:
    return humaneval_cases(build.data, build.mutations, build.seed)


def _attacks(_: Build) -> tuple[CorpusCase, ...]:
    return ATTACKS


BUILT_IN: Mapping[str, Callable[[Build], tuple[CorpusCase, ...]]] = {
    "attacks": _attacks,
    "humaneval": _humaneval,
}


def load_corpus(name: str, build: Build) -> tuple[CorpusCase, ...]:
    """Return the cases of a built-in corpus, or of a directory; `./NAME` is always a directory.

    Raises:
        InvalidInputError: the corpus cannot be used; the message names file and field.
    """
    if name in BUILT_IN:
        return built_in(name, build)
    return read_corpus(Path(name))


def built_in(name: str, build: Build) -> tuple[CorpusCase, ...]:
    """Return the cases of a built-in corpus.

    Raises:
        InvalidInputError: there is no built-in corpus of this name, or its data cannot be used.
    """
    if name not in BUILT_IN:
        raise InvalidInputError(f"there is no {name!r}; there are {', '.join(BUILT_IN)}", field="corpus")
    cases = BUILT_IN[name](build)
    check_corpus(cases)
    return cases


def choose(cases: tuple[CorpusCase, ...], phase: Phase | None, limit: int | None) -> tuple[CorpusCase, ...]:
    """Return at most `limit` cases of a phase, spread evenly so that all kinds are included."""
    those = tuple(each for each in cases if phase is None or each.phase is phase)
    if limit is None or limit >= len(those):
        return those
    return tuple(those[place * len(those) // limit] for place in range(limit))
