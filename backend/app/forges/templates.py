"""Templates for the title and the description of pull requests, as the operator writes them."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

TITLE = "{name}"
"""The default title."""

DESCRIPTION = """\
**{state}**

{closes}

### Goal

{goal}

### Changes

{changes}

### Evidence

{evidence}

{summary}"""
"""The default description."""

_TITLE_NAMES = ("name", "issue", "run")
_DESCRIPTION_NAMES = (*_TITLE_NAMES, "state", "closes", "goal", "changes", "evidence", "summary")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_EMPTY_LINE = re.compile(r"^\{closes\}\n*", re.MULTILINE)


def check_template(template: str, known: Collection[str]) -> str:
    """Return a template whose placeholders are all known.

    Raises:
        ValueError: it is empty, has an unknown placeholder, or contains a mark of the service.
    """
    if not template.strip():
        raise ValueError("it is empty")
    unknown = [each for each in _PLACEHOLDER.findall(template) if each not in known]
    if unknown:
        names = ", ".join(f"{{{each}}}" for each in known)
        raise ValueError(f"{{{unknown[0]}}} is no placeholder; these are: {names}")
    if "<!-- phaserunner:" in template.lower():
        raise ValueError("it contains <!-- phaserunner:, by which the service finds what it wrote")
    return template


TitleTemplate = Annotated[
    str,
    StringConstraints(max_length=200, pattern=r"^[^\r\n]*$"),
    AfterValidator(lambda given: check_template(given, _TITLE_NAMES)),
]
DescriptionTemplate = Annotated[
    str,
    StringConstraints(max_length=20_000),
    AfterValidator(lambda given: check_template(given, _DESCRIPTION_NAMES)),
]


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template's text. Placeholders within the values stay as they are."""
    if not values.get("closes"):
        template = _EMPTY_LINE.sub("", template)
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)
