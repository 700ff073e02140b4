"""Finds changed tool settings that require less than before. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.runners.evaluators.protection.setting_weights import Weight, weigh, without
from app.runners.evaluators.protection.tool_settings import ToolSettings, Value

_SHOWN_CHARS = 60
_SHOWN_VALUES = 5


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that requires less than at the base, or has an effect that is unknown.

    Attributes:
        file: the file that holds the setting now, or held it.
        name: its name in that file, such as `tool.ruff.lint.ignore`; for a whole section without a key.
        why: the rest of a sentence about it, such as "now has `E501`".
        weight: weaker or unknown.
        old: its value at the base; None if it was not set.
        new: its value in the candidate; None if it is not set.
    """

    file: str
    name: str
    why: str
    weight: Weight
    old: Value | None
    new: Value | None


def weaker_settings(
    old: Mapping[str, ToolSettings], new: Mapping[str, ToolSettings]
) -> Iterator[SettingChange]:
    """Yield the settings that were weakened, or may have been.

    A candidate may configure a tool that the base does not configure, because that tool did not judge before.
    Only pytest's settings are weighed even then, as its tests run without any.

    Args:
        old: the settings of each tool at the base, by its name.
        new: those of the candidate.
    """
    for tool in sorted({*old, *new}):
        before, after = old.get(tool), new.get(tool)
        if before is None and after is not None and tool == "pytest":
            before = ToolSettings(after.file, after.prefix, {})
        if before is None:
            continue
        if after is None and before.values:
            name = before.prefix.removesuffix(".") or tool
            yield SettingChange(before.file, name, "was removed", Weight.WEAKER, name, None)
        elif after is not None:
            yield from _of_tool(tool, before, after)


def _of_tool(tool: str, before: ToolSettings, after: ToolSettings) -> Iterator[SettingChange]:
    for key in sorted({*before.values, *after.values}):
        one, other = before.values.get(key), after.values.get(key)
        if _same(one, other):
            continue
        weight = weigh(tool, key, one, other, before)
        if weight is not Weight.HARMLESS:
            yield SettingChange(after.file, f"{after.prefix}{key}", _words(one, other), weight, one, other)


def _same(one: Value | None, other: Value | None) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sorted(one) == sorted(other)
    return one == other


def _words(old: Value | None, new: Value | None) -> str:
    if isinstance(old, tuple | None) and isinstance(new, tuple | None):
        gone, added = without(old or (), new or ()), without(new or (), old or ())
        parts = [f"now has {_listed(added)}"] if added else []
        parts += [f"no longer has {_listed(gone)}"] if gone else []
        return " and ".join(parts) or "has a different order"
    if new is None:
        return f"is no longer set; it was {_shown(old)}"
    return f"is now {_shown(new)}" + ("" if old is None else f" where it was {_shown(old)}")


def _listed(values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN_VALUES} more" if len(values) > _SHOWN_VALUES else ""
    return ", ".join(map(_shown, values[:_SHOWN_VALUES])) + more


def _shown(value: Value | None) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text if len(text) <= _SHOWN_CHARS else f'{text[:_SHOWN_CHARS]}…'}`"
