"""Finds what the environment lacks for the tests that count."""

from dataclasses import replace

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.at_base.trouble import Trouble, trouble_of
from app.runners.evaluators.testing.sorting.judged import JudgedRun


async def trouble_left(judged: JudgedRun, base: BaseTests) -> Trouble:
    """Return what the environment lacks for tests that are neither noted nor asked about.

    What the candidate's own tests lack prevents a verdict only while the base's tests pass.
    """
    trouble = await trouble_of(base, judged.of_base, of_base=True) if judged.of_base else Trouble()
    if trouble or judged.own is None or judged.questions or not replace(judged, own=None).all_well:
        return trouble
    return await trouble_of(base, judged.own, of_base=False)
