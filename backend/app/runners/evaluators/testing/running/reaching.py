"""Finds failing tests that want a network, whatever their messages say. Pure."""

from collections.abc import Collection

from app.runners.evaluators.testing.running.failure_words import failure_words
from app.runners.evaluators.testing.running.report import Outcome, RunReport


def without_network(names: Collection[str], report: RunReport) -> frozenset[str]:
    """Return the tests among `names` that failed and tried to reach a network.

    A fixture that several tests share is set up once, so those whose set-up fails with the same words as that
    of such a test are among them.
    """
    failed = {name: report.tests[name] for name in names if name in report.tests and report.tests[name].bad}
    shared = {
        failure_words(each.message)
        for each in report.tests.values()
        if each.sought_network and each.outcome is Outcome.ERROR
    }
    return frozenset(
        name
        for name, each in failed.items()
        if each.sought_network or (each.outcome is Outcome.ERROR and failure_words(each.message) in shared)
    )
