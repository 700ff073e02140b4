"""Attempts to pass without having done the work, each beside an honest change that looks similar."""

from app.corpora.attacks import (
    command_gates,
    configuration,
    ending,
    files,
    forgery,
    git,
    hidden_types,
    lent_objects,
    lint,
    lookups,
    machine,
    objects,
    oracles,
    planted,
    reporting,
    silence,
    suites,
    swallow,
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
    *objects.CASES,
    *oracles.CASES,
    *lent_objects.CASES,
    *silence.CASES,
    *swallow.CASES,
    *command_gates.CASES,
    *lint.CASES,
    *type_checks.CASES,
    *hidden_types.CASES,
    *git.CASES,
    *files.CASES,
    *planted.CASES,
    *machine.CASES,
    *reporting.CASES,
)
"""Every attempt, followed by its twin."""
