"""The output of a command: data to standard output, progress to standard error, both made harmless."""

import json
import re
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from app.cli.view.text import harmless
from app.cli.view.wrapping import hanging

_UNSAFE_IN_JSON = re.compile(
    "[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True)
class Terminal:
    """The two streams of a command.

    Attributes:
        out: standard output, for data.
        err: standard error, for progress and remarks.
        as_json: True if data is one JSON document, or one line for each of many.
    """

    out: Console
    err: Console
    as_json: bool = False

    @property
    def progress(self) -> Console:
        """The console for a live view: standard output, unless that is for JSON."""
        return self.err if self.as_json else self.out

    def json(self, document: Any, *, indent: int | None = 2) -> None:
        """Write a JSON document. Characters that could control a terminal are escaped, as JSON allows."""
        text = json.dumps(document, ensure_ascii=False, indent=indent)
        self.raw(_UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")

    def raw(self, text: str) -> None:
        """Write text to standard output exactly as it is."""
        self.out.file.write(text)
        self.out.file.flush()

    def raw_bytes(self, data: bytes) -> None:
        """Write bytes to standard output, for a file in any encoding."""
        stream = self.out.file
        stream.flush()
        binary = getattr(stream, "buffer", None)
        if binary is None:
            stream.write(data.decode("utf-8", "replace"))
        else:
            binary.write(data)
        stream.flush()

    def line(self, text: str = "", style: str = "") -> None:
        """Write a line of data for people."""
        write_line(self.out, text, style)

    def prose(self, text: str = "", style: str = "", *, column: int | None = None) -> None:
        """Write a line of data for people; a terminal gets it broken between words, from `column` on."""
        self.line(hanging(harmless(text), self.out.width, column) if self.out.is_terminal else text, style)

    def say(self, text: str, style: str = "") -> None:
        """Write a remark to standard error."""
        write_line(self.err, text, style)


def write_line(console: Console, text: str, style: str = "") -> None:
    """Write text without interpreting markup and without wrapping it."""
    console.print(Text(harmless(text), style=style), soft_wrap=True)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # rich would end the process as if the command had failed.
        raise BrokenPipeError


def console_for(stream: TextIO) -> Console:
    """Return a console that does not interpret markup or emoji codes and does not highlight."""
    return _Console(file=stream, markup=False, emoji=False, highlight=False)
