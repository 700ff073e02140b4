"""Adds hooks to an agent's JSON settings and removes them. Everything else in the file stays. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from app.cli.exits import CliError


def with_hooks(text: str | None, file: str, entries: Mapping[str, Mapping[str, Any]], mark: str) -> str:
    """Return the settings with one hook for each event.

    Args:
        text: the file's text; None if there is none.
        file: its name, for errors.
        entries: the hook by event.
        mark: a text in the command of each of our hooks; such hooks are replaced.

    Raises:
        CliError: the file is not JSON, or has something else where hooks belong.
    """
    settings = _without(_read(text, file), file, mark)
    hooks = _object(settings.setdefault("hooks", {}), file, "hooks")
    for event, entry in entries.items():
        _list(hooks.setdefault(event, []), file, f"hooks.{event}").append({"hooks": [dict(entry)]})
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def without_hooks(text: str, file: str, mark: str) -> str:
    """Return the settings without our hooks; `""` if nothing else is left."""
    settings = _without(_read(text, file), file, mark)
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n" if settings else ""


def _without(settings: dict[str, Any], file: str, mark: str) -> dict[str, Any]:
    if "hooks" not in settings:
        return settings
    hooks = _object(settings["hooks"], file, "hooks")
    kept: dict[str, Any] = {}
    for event, groups in hooks.items():
        listed = _list(groups, file, f"hooks.{event}")
        left = [each for each in (_group_without(group, mark) for group in listed) if each is not None]
        if left or not listed:
            kept[event] = left
    others = {name: value for name, value in settings.items() if name != "hooks"}
    return {**others, "hooks": kept} if kept else others


def _group_without(group: object, mark: str) -> object | None:
    """Return a group of hooks without ours, or None if it held only ours."""
    if not isinstance(group, dict):
        return group
    inner = cast("dict[str, Any]", group)
    hooks = inner.get("hooks")
    if not isinstance(hooks, list):
        return inner
    listed = cast("list[object]", hooks)
    left = [each for each in listed if not _is_ours(each, mark)]
    if len(left) == len(listed):
        return inner
    return {**inner, "hooks": left} if left else None


def _is_ours(hook: object, mark: str) -> bool:
    return isinstance(hook, dict) and mark in str(cast("dict[str, Any]", hook).get("command", ""))


def _read(text: str | None, file: str) -> dict[str, Any]:
    try:
        settings: object = json.loads(text) if text and text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise CliError(f"{file} is not JSON, so nothing was changed: {error}") from error
    return _object(settings, file, "the settings")


def _object(value: object, file: str, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CliError(f"{file}: {name} must be an object; nothing was changed")
    return cast("dict[str, Any]", value)


def _list(value: object, file: str, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise CliError(f"{file}: {name} must be a list; nothing was changed")
    return cast("list[Any]", value)


def hook_entries(events: Sequence[str], command: str, seconds: int) -> dict[str, dict[str, Any]]:
    """Return the same hook for each event, with a time limit of `seconds`."""
    return {event: {"type": "command", "command": command, "timeout": seconds} for event in events}
