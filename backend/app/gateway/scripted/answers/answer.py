"""The scripted model's answer, independent of any dialect."""

import json
from dataclasses import dataclass
from typing import Any

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Spoken

CREATED = 1_700_000_000
"""The creation time in each answer."""

_PIECE_CHARS = 12

Content = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turnover:
    """The tokens that each answer reports. `input` includes the cached ones."""

    input: int = 2000
    output: int = 100
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Scripted:
    """One answer: its request, its content, its usage and its number."""

    request: ScriptedRequest
    spoken: Spoken
    usage: Turnover
    number: int

    @property
    def model(self) -> str:
        """The requested model."""
        return self.request.model

    @property
    def call_id(self) -> str:
        """Name of the tool call."""
        return f"call_scripted_{self.number}"

    @property
    def arguments(self) -> str:
        """The tool call's arguments as JSON."""
        return json.dumps(self.spoken.arguments or {})

    def pieces(self) -> list[str]:
        """The text in pieces, as they stream."""
        text = self.spoken.text
        return [text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS)]
