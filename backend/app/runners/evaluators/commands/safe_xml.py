"""Reads XML that may be hostile: no document type and so no entities, bounded depth and size."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

_MAX_DEPTH = 200
_MAX_ELEMENTS = 1_000_000
_MAX_TEXT_CHARS = 4000


class UnsafeXmlError(ValueError):
    """It is not XML, or not of the kind that is read here."""


@dataclass(slots=True)
class Element:
    """One element without its namespace; of its text the beginning is kept."""

    tag: str
    attributes: Mapping[str, str]
    children: "list[Element]" = field(default_factory=list["Element"])
    text: str = ""

    def walk(self) -> "Iterator[Element]":
        """Give this element and all below it, in the order of the document."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def parse_xml(data: bytes) -> Element:
    """Give the root element.

    Raises:
        UnsafeXmlError: it is not well-formed, declares a document type, or is too deep or too large.
    """
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        # Python's own errors: an encoding that it does not know.
        raise UnsafeXmlError(str(error)) from error
    if builder.root is None:
        raise UnsafeXmlError("no element found")
    return builder.root


class _Builder:
    """Builds the tree from the parser's events."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._count += 1
        if self._count > _MAX_ELEMENTS:
            raise UnsafeXmlError(f"more than {_MAX_ELEMENTS} elements")
        if len(self._open) >= _MAX_DEPTH:
            raise UnsafeXmlError(f"elements are nested more than {_MAX_DEPTH} deep")
        element = Element(name.rpartition(":")[2], attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def text(self, data: str) -> None:
        element = self._open[-1]
        room = _MAX_TEXT_CHARS - len(element.text)
        if room > 0:
            element.text += data[:room]


def _refuse_doctype(*_: object) -> None:
    raise UnsafeXmlError("it declares a document type, which may hold entities")
