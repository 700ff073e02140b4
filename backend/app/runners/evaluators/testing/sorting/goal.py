"""Which tests a run should make pass, according to its starter, its plan and the words of its goal. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.schemas.questions import BaseFailures

# Parts of branch names, options and packages, like `asgi-tests` and `--fail-fast`, are not about tests.
_TESTS = r"(?<![\w/-])(?:tests?|unittests?|suite|specs?|pytest)(?![\w/-])"
_MANY_TESTS = r"(?<![\w/-])(?:tests|unittests|suite|specs)(?![\w/-])"
_FAILING = r"(?<![\w/-])(?:fail(?:s|ed|ing)?|pass(?:es|ed|ing)?|green|red|broken|breaks?)(?![\w/-])"
_NEAR = r"[^.;:\n]{0,40}?"
_ABOUT_TESTS = re.compile(
    rf"{_FAILING}{_NEAR}{_TESTS}|{_TESTS}{_NEAR}{_FAILING}"
    rf"|\b(?:fix|repair|mend|correct|restor|satisf|solv|resolv|unbreak)\w*{_NEAR}{_TESTS}"
    rf"|\b(?:the|all|these|those|given|exist\w*|hidden|every|each|its|our|remaining)\s+(?:\w+\s+){{0,2}}?{_MANY_TESTS}"
    r"|\b(?:failing|broken|red)\s+(?:build|ci|checks?|cases?|ones?|jobs?)\b",
    re.IGNORECASE,
)
# A goal that only wants more or other tests is not about those that fail. These words of it do not count.
_WRITES_TESTS = re.compile(
    r"\b(?:add(?:s|ed|ing)?|extend\w*|expand\w*|improv\w+|updat\w+|clean\w*(?:\s+up)?|renam\w+|refactor\w*"
    r"|simplif\w+|mov\w+|split\w*)\s+"
    r"(?:(?:an?|the|more|some|new|our|unit|regression|missing|few|extra|additional|basic|simple|further)\s+)*"
    r"tests?\b|\btest\s+(?:coverage|cases?)\b",
    re.IGNORECASE,
)

_LEAST_PART, _LEAST_WORD = 3, 4
"""Letters that tell a shortened word: `app` for "application", "export" for `exporter`, but not "pr"."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Which tests a run should make pass.

    Attributes:
        policy: which failures count.
        tests: globs of ids from the person who started the run, or from the plan.
        words: the goal in the user's words.
        known: globs of ids of tests that the project knows to fail.
    """

    policy: BaseFailures = BaseFailures.GOAL
    tests: Sequence[str] = ()
    words: str = ""
    known: Sequence[str] = ()

    @property
    def is_about_tests(self) -> bool:
        """True if the words may mean tests that fail, without naming any."""
        return bool(_ABOUT_TESTS.search(_WRITES_TESTS.sub("", self.words)))

    def names(self, test_id: str) -> bool:
        """Return True if a glob names a test, its function or its file."""
        if _is_among(test_id, self.tests):
            return True
        function, path = function_of(test_id), file_of(test_id)
        spoken = {path, path.rpartition("/")[2], function.rpartition("::")[2]}
        return any(re.search(rf"(?<![\w.]){re.escape(each)}(?![\w])", self.words) for each in spoken)

    def knows(self, test_id: str) -> bool:
        """Return True if the project knows that a test fails, and nothing says that the run should fix it."""
        is_wanted = self.is_about_tests or self.names(test_id)
        return self.policy is BaseFailures.GOAL and not is_wanted and _is_among(test_id, self.known)

    def speaks_of(self, module: str) -> bool:
        """Return True if a word of the goal may mean a module, like "export" for `exporter`."""
        parts = [each for each in module.lower().split("_") if len(each) > 1]
        words = re.findall(r"[a-z0-9]{2,}", self.words.lower())
        return any(_may_mean(word, part) for part in parts for word in words)


def _is_among(test_id: str, globs: Sequence[str]) -> bool:
    """Return True if a glob matches a test, its function or its file."""
    names = (test_id, function_of(test_id), file_of(test_id))
    return any(fnmatchcase(name, glob) for glob in globs for name in names)


def _may_mean(word: str, part: str) -> bool:
    """Return True if a word is a name's part, or one begins with the other, unless it begins many words."""
    longer = len(part) >= _LEAST_PART and word.startswith(part)
    return word == part or longer or (len(word) >= _LEAST_WORD and part.startswith(word))
