"""Reads XML that may be hostile: no document type, hence no entities, and bounded depth and size."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat


class UnsafeXmlError(ValueError):
    """The text is not XML, or not of the kind that is accepted here.

    Attributes:
        line: line of the error, from 1; None if it has no place.
        element: path of the element that was open there; empty outside of all elements.
    """

    def __init__(self, message: str, line: int | None = None, element: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.element = element


@dataclass(frozen=True, slots=True)
class XmlBounds:
    """The bounds on a document.

    Text beyond an element's `text_chars` is cut up to its last `end_chars`, or refused (`refuse_long`).
    """

    depth: int = 200
    elements: int = 1_000_000
    text_chars: int = 4000
    end_chars: int = 0
    refuse_long: bool = False


@dataclass(slots=True)
class Element:
    """One element without its namespace. `line` is where it starts.

    `text` is the start of its text, and `end` the end of what `text` lacks, if the bounds keep any.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int = 0
    children: "list[Element]" = field(default_factory=list["Element"])
    text: str = ""
    end: str = ""

    def walk(self) -> "Iterator[Element]":
        """Yield this element and all elements below it, in document order."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def parse_xml(data: bytes, bounds: XmlBounds | None = None) -> Element:
    """Return the root element.

    Raises:
        UnsafeXmlError: the text is not well-formed, declares a document type, or is too deep or too large.
    """
    parser = expat.ParserCreate()
    builder = _Builder(bounds or XmlBounds(), lambda: parser.CurrentLineNumber)
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = builder.refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(data, True)
    except UnsafeXmlError:
        raise
    except expat.ExpatError as error:
        raise UnsafeXmlError(str(error), error.lineno, builder.path()) from error
    except (ValueError, LookupError) as error:
        # Python itself raises these, for an unknown encoding.
        raise UnsafeXmlError(str(error)) from error
    if builder.root is None:
        raise UnsafeXmlError("no element found")
    return builder.root


class _Builder:
    """Builds the tree from the parser's events."""

    def __init__(self, bounds: XmlBounds, line: Callable[[], int]) -> None:
        self.root: Element | None = None
        self._bounds = bounds
        self._line = line
        self._open: list[Element] = []
        self._count = 0

    def path(self) -> str:
        """Return the path of the open element."""
        return "/".join(each.tag for each in self._open)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._count += 1
        if self._count > self._bounds.elements:
            raise self._error(f"more than {self._bounds.elements} elements")
        if len(self._open) >= self._bounds.depth:
            raise self._error(f"elements are nested more than {self._bounds.depth} deep")
        element = Element(name.rpartition(":")[2], attributes, self._line())
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def text(self, data: str) -> None:
        element = self._open[-1]
        room = max(0, self._bounds.text_chars - len(element.text))
        if len(data) > room and self._bounds.refuse_long:
            raise self._error(f"more than {self._bounds.text_chars} characters of text")
        if room:
            element.text += data[:room]
        if len(data) > room and self._bounds.end_chars:
            element.end = (element.end + data[room:])[-self._bounds.end_chars :]

    def refuse_doctype(self, *_: object) -> None:
        raise self._error("it declares a document type, which may contain entities")

    def _error(self, message: str) -> UnsafeXmlError:
        return UnsafeXmlError(message, self._line(), self.path())
