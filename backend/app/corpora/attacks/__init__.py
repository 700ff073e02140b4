"""Attempts to pass without having done the work, each beside an honest change that looks similar."""

from app.corpora.attacks import (
    configuration,
    ending,
    files,
    forgery,
    git,
    lint,
    lookups,
    machine,
    planted,
    reporting,
    suites,
    type_checks,
    values,
)
from app.corpora.format import CorpusCase

ATTACKS: tuple[CorpusCase, ...] = (
    *ending.CASES,
    *suites.CASES,
    *configuration.CASES,
    *values.CASES,
    *forgery.CASES,
    *lookups.CASES,
    *lint.CASES,
    *type_checks.CASES,
    *git.CASES,
    *files.CASES,
    *planted.CASES,
    *machine.CASES,
    *reporting.CASES,
)
"""Every attempt, followed by its twin."""
