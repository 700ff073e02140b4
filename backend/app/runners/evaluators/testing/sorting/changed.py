"""Asks about base tests that fail while the candidate's version of them passes."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.protection.questions import (
    about_files,
    by_change,
    folded,
    question_of_file,
    questions_about,
)
from app.runners.evaluators.testing.layout.doctests import changed_doctests
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.same_tests import renamed_tests
from app.runners.evaluators.testing.layout.setting import is_test_file
from app.runners.evaluators.testing.layout.touched import Touched, touched_files
from app.runners.evaluators.testing.layout.trees import RunTree, whole_tree
from app.runners.evaluators.testing.layout.written import written_tests
from app.runners.evaluators.testing.running.report import PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.versions import Theirs, holds
from app.schemas.questions import Question, QuestionKind

_ENDING = "does the goal say so?"
_UNREAD = f"loads with this code only in its changed version: {_ENDING}"
_FAILS = "the base's version fails on this code, the changed one passes"
_SKIPPED = "the base's version fails on this code, and the changed one does not run here"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTests:
    """Compares the results of the base's and the candidate's versions of tests.

    Attributes:
        base: the tree of the base.
        workspace: the candidate's tree.
        laid_over: files of the test setting that the candidate changed or removed.
        patterns: globs of test files.
        doctests: sources that ran with the base's docstrings.
        added: files of the test setting that the candidate added, without test files.
    """

    base: Path
    workspace: Path
    laid_over: Sequence[str]
    patterns: Sequence[str]
    doctests: Sequence[str] = ()
    added: Sequence[str] = ()

    def touched(self) -> Touched:
        """Return the files that the candidate changed."""
        return touched_files(self.base, self.workspace)

    async def questions(
        self, harness: Harness, of_base: RunReport, own: RunReport | None, doubted: Iterable[str] = ()
    ) -> list[Question]:
        """Return questions about every failing test of the base.

        If a failure has no changed version that passes, there are no questions.

        Args:
            harness: runs tests of unchanged files in the candidate's setting.
            of_base: the base's tests on the candidate's code.
            own: the tests that the candidate added or changed.
            doubted: tests that `own` does not hold, because a person is asked about them.
        """
        failing = [*(each.id for each in of_base.failures), *(each.id for each in of_base.errors)]
        is_whole = of_base.ending is PytestEnding.COMPLETE and not (of_base.forged or of_base.unfinished)
        if not (failing and is_whole and (self.laid_over or self.doctests or self.added)) or (
            own is not None and not is_good(own)
        ):
            return []
        theirs = await self._theirs(harness, failing, own)
        # If no test passes in either version, there is no evidence for the change.
        if not any(each.ok for each in (*of_base.tests.values(), *theirs.tests.values())):
            return []
        theirs = replace(theirs, doubted=frozenset(map(file_of, doubted)))
        return await asyncio.to_thread(self._ask, failing, theirs)

    async def about_setting(self, harness: Harness, own: RunReport | None) -> list[Question]:
        """Return questions about changed helpers and settings without which no base test can even start.

        All tests of the candidate run in its own setting. Nothing is asked unless all of them pass there.

        Args:
            harness: runs them.
            own: the tests that the candidate added or changed.
        """
        others = [each for each in self.laid_over if not is_test_file(each, self.patterns)]
        if not others or (own is not None and not is_good(own)):
            return []
        tree = await asyncio.to_thread(whole_tree, self.workspace, harness.limits)
        report = await harness.run(tree)
        if not (is_good(report) and any(each.ok for each in report.tests.values())):
            return []
        return await asyncio.to_thread(self._of_setting, others, report)

    def _of_setting(self, others: Sequence[str], report: RunReport) -> list[Question]:
        parts = self.changes(others) or [question_of_file(each, *self.versions(each)) for each in others]
        listed = ", ".join(dict.fromkeys(f"`{each.id}`" for each in parts[:3]))
        passed = sum(each.ok for each in report.tests.values())
        text = f"The tests can run on this code only with the changed {listed}: {_ENDING}"
        why = f"with the base's version pytest cannot begin; with the changed one {passed} tests pass"
        before, after = both_sides(parts)
        return [
            Question.about(parts[0].id, QuestionKind.DIFFERENT, text, why=why, before=before, after=after)
        ]

    async def _theirs(self, harness: Harness, failing: Sequence[str], own: RunReport | None) -> Theirs:
        """Return the results of the candidate's versions. Tests of unchanged files run in its setting."""
        found = dict(own.tests) if own is not None else {}
        unread: frozenset[str] = frozenset()
        # A data file that a plug-in of the project collects is not one of the candidate's own test files.
        alone = [each for each in failing if not self._is_changed_test_file(file_of(each))]
        if alone:
            tree = await asyncio.to_thread(whole_tree, self.workspace, harness.limits)
            only = RunTree(tree.files, only=frozenset(map(file_of, alone)))
            # Parameters from changed data give tests other names there. The names of files that did not load
            # are no tests.
            unnamed = any("[" in each or "::" not in each for each in alone)
            report = await harness.run(only, ids=None if unnamed else alone)
            is_whole = report.ending is PytestEnding.COMPLETE and not report.forged
            found |= report.tests if is_whole else {}
            unread = frozenset(each.id for each in report.errors) if is_whole else only.only or frozenset()
        return Theirs(found, unread)

    def _is_changed_test_file(self, path: str) -> bool:
        return path in self.laid_over and is_test_file(path, self.patterns)

    def _ask(self, failing: Sequence[str], theirs: Theirs) -> list[Question]:
        found: dict[str, Question] = {}
        alike = [each for each in failing if self._loads_with_changes(each, theirs)]
        if len(alike) > 1 and (question := self._support(alike, [])) is not None:
            found[question.key] = question
            failing = [each for each in failing if each not in alike]
        for name in failing:
            question = self._about(name, theirs)
            if question is None:
                return []
            found[question.key] = question
        unread = [each for each in found.values() if each.text.endswith(_UNREAD)]
        others = [each for each in found.values() if each not in unread]
        if len(unread) > 1:
            unread = [about_files(unread, self.changes(each.id for each in unread))]
        return [*unread, *folded(by_change(others))]

    def _loads_with_changes(self, name: str, theirs: Theirs) -> bool:
        """Return True if an unchanged file loads with the changes beside it, and its tests pass."""
        is_unchanged = name == file_of(name) and name not in self.laid_over
        return is_unchanged and (self.workspace / name).exists() and theirs.loads(name)

    def _about(self, name: str, theirs: Theirs) -> Question | None:
        path, function = file_of(name), function_of(name)
        if self._loads_with_changes(name, theirs):
            return self._support([name], [])
        same = theirs.same(name)
        versions = same or theirs.of_function(function) or self._renamed(function, theirs)
        # Some tests of a file or function may be skipped on this machine. A skip alone is no evidence.
        is_one = bool(same) and name != path
        asked = self._changes_of(path) if path in self.laid_over or path in self.doctests else []
        own = next((each for each in asked if each.id == function or _removes(each, function)), None)
        if own is not None and is_one and all(each.idle for each in versions) and _has_condition(own):
            return own.model_copy(update={"why": f"{own.why}; {_SKIPPED}"})
        if name == path and path in theirs.doubted and all(each.idle for each in versions):
            return self._whole_file(path)
        if versions and not (all(each.ok for each in versions) if is_one else holds(versions)):
            return None
        if not versions and name in self._helpers([path]):
            return self._whole_file(path)
        if own is not None:
            gone = not own.after
            return None if gone == bool(versions) else _knowing(own, gone=gone)
        if not versions:
            return self._whole_file(path) if not (self.workspace / path).exists() else None
        return self._whole_file(path) if name == path else self._support([name], asked)

    def _renamed(self, function: str, theirs: Theirs) -> list[RanTest]:
        """Return the tests of a function that has another name in the candidate and means the same."""
        path = file_of(function)
        if path not in self.laid_over:
            return []
        return theirs.of_function(renamed_tests(path, self.base, self.workspace).get(function, ""))

    def _support(self, names: Sequence[str], asked: Sequence[Question]) -> Question | None:
        """Return a question about other changes around unchanged tests.

        Such a change may also be in a test file, because other files inherit from its classes or import its
        functions.

        Args:
            names: one test, or test files that do not load without the change.
        """
        tests = {each for each in self.laid_over if is_test_file(each, self.patterns)}
        others = [each for each in self.laid_over if each not in tests]
        mine = sorted(tests.intersection(map(file_of, names)))
        parts = (
            [*asked, *self._further(others, asked), *self._of_doctests()]
            or self._further(sorted(tests), asked)
            # A helper may only lack an import that the code no longer provides, or have a further method.
            or [
                question_of_file(each, *self.versions(each))
                for each in others or self._helpers(tests) or mine or sorted(tests)
            ]
        )
        kind = "changed" if parts else "added"
        parts = parts or [question_of_file(each, None, self._after(each)) for each in self.added]
        if not parts:
            return None
        listed = ", ".join(dict.fromkeys(f"`{each.id}`" for each in parts[:3]))
        name = names[0] if len(names) == 1 else parts[0].id
        what = f"`{name}` passes" if len(names) == 1 else f"{len(names)} test files load"
        text = f"{what} only with the {kind} {listed}: {_ENDING}"
        before, after = both_sides(parts)
        return Question.about(name, QuestionKind.DIFFERENT, text, why=_FAILS, before=before, after=after)

    def _of_doctests(self) -> list[Question]:
        """Return questions about the doctests of sources, which tests may run by themselves."""
        found: list[Question] = []
        for name in self.doctests:
            before, after = changed_doctests(*(each or b"" for each in self.versions(name)))
            text = f"Doctests of `{name}` were changed: {_ENDING}"
            found.append(
                Question.about(name, QuestionKind.DIFFERENT, text, why=_FAILS, before=before, after=after)
            )
        return found

    def _helpers(self, paths: Iterable[str]) -> list[str]:
        """Return the changed files that are named like tests and hold none at the base."""
        return [each for each in paths if each in self.laid_over and not written_tests(self.base, [each])]

    def changes(self, paths: Iterable[str]) -> list[Question]:
        """Return questions about what the candidate changed in files of the test setting."""
        return [each for path in paths for each in self._changes_of(path)]

    def versions(self, path: str) -> tuple[bytes | None, bytes | None]:
        """Return a file's content at the base and in the candidate; None where it is missing or a link."""
        return self._before(path), self._after(path)

    def _further(self, paths: Iterable[str], asked: Sequence[Question]) -> list[Question]:
        return [each for each in self.changes(paths) if each not in asked]

    def _whole_file(self, path: str) -> Question | None:
        """Return a question about a whole test file that does not load or was removed."""
        asked = questions_about(path, self._before(path), None)
        after = self._after(path)
        if after is None:
            return asked[0]
        old, new = ((text or b"").decode("utf-8", "replace") for text in (self._before(path), after))
        text = f"`{path}` {_UNREAD}"
        return Question.about(path, QuestionKind.DIFFERENT, text, why=_FAILS, before=old, after=new)

    def _changes_of(self, path: str) -> list[Question]:
        before, after = self._before(path), self._after(path)
        return [] if before == after else questions_about(path, before, after)

    def _before(self, path: str) -> bytes | None:
        return _content(self.base / path)

    def _after(self, path: str) -> bytes | None:
        return _content(self.workspace / path)


def _knowing(question: Question, *, gone: bool) -> Question:
    why = "the base's version fails on this code, and the test was removed" if gone else _FAILS
    return question.model_copy(update={"why": f"{question.why}; {why}"})


def _removes(question: Question, function: str) -> bool:
    """Return True if a question is about the removal of the class that has a test function."""
    return not question.after and function.startswith(f"{question.id}::")


def _has_condition(question: Question) -> bool:
    """Return True if a test that always ran now runs only under a condition, such as a version of Python.

    A test without one is skipped to get rid of it.
    """
    return "skipif" in question.after and "skipif" not in question.before


def both_sides(parts: Sequence[Question]) -> tuple[str, str]:
    """Return what several questions show of the base and of the candidate, one below the other."""
    before, after = ([each.before for each in parts], [each.after for each in parts])
    return "\n\n".join(filter(None, before)), "\n\n".join(filter(None, after))


def is_good(own: RunReport) -> bool:
    """Return True if a run ended, and nothing in it speaks against the code."""
    bad: Collection[object] = (*own.failures, *own.errors, *own.unfinished, *own.forged)
    return own.ending is PytestEnding.COMPLETE and not bad and own.canaries_ran


def _content(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None
