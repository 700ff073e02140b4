"""Tells exceptions from ruff's rules that a project did not follow before. Pure."""

from collections.abc import Sequence

from app.runners.evaluators.protection.tool_settings import ToolSettings, Value

_LIMITED = {"lint.mccabe.": "C90", "lint.pylint.": "PL", "lint.flake8-annotations.": "ANN"}
"""Settings of ruff by their beginning, each with the rules that alone read them."""


def is_about_new_rules(key: str, old: Value | None, new: Value | None, before: ToolSettings) -> bool:
    """Return True if a setting of ruff only limits rules that the base does not select.

    A project that selects further rules often excepts some of them in the same change.

    Args:
        key: the key of the setting.
        old: its value at the base; None if it was not set.
        new: its value in the candidate; None if it is not set.
        before: ruff's settings at the base.
    """
    selected = before.values.get("lint.select")
    if not isinstance(selected, tuple):
        return False
    rules = next((rule for start, rule in _LIMITED.items() if key.startswith(start)), "")
    if rules:
        return not _overlap(selected, rules)
    if key != "lint.ignore" and not key.startswith("lint.per-file-ignores."):
        return False
    known = old if isinstance(old, tuple) else ()
    return isinstance(new, tuple) and not any(_overlap(selected, each) for each in new if each not in known)


def _overlap(selected: Sequence[str], rules: str) -> bool:
    return "ALL" in (*selected, rules) or any(
        each.startswith(rules) or rules.startswith(each) for each in selected
    )
