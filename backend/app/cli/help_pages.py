"""Lays out help: text of docstrings is filled anew, as their lines are wider than most terminals."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Only help needs these: they take time to import.
    from cyclopts.help import HelpPanel
    from cyclopts.help.formatters import DefaultFormatter
    from rich.console import Console, ConsoleOptions

_LINE_END = re.compile(r"(?<!\n)\n(?!\n)[ \t]*")


class HelpPages:
    """The usual layout with filled paragraphs."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Write one panel."""
        for entry in panel.entries:
            _fill(entry.description)
        _usual()(console, options, panel)

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: Any) -> None:
        """Write how to call a command."""
        _usual().render_usage(console, options, usage)

    def render_description(self, console: "Console", options: "ConsoleOptions", description: Any) -> None:
        """Write what a command does."""
        _fill(description)
        console.print(description)


def _usual() -> "DefaultFormatter":
    from cyclopts.help.formatters import DefaultFormatter  # noqa: PLC0415 - only for help: keeps start-up quick

    return DefaultFormatter()


def _fill(description: Any) -> None:
    text = getattr(description, "primary_renderable", None)
    if text is not None:
        description.primary_renderable = type(text)(_LINE_END.sub(" ", text.plain), end=text.end)
