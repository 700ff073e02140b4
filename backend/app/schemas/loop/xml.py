"""Reads the XML of a loop's definition into plain values, and keeps the line of each value."""

from dataclasses import dataclass, field
from typing import Any

from app.schemas.loop.safe_xml import Element, UnsafeXmlError, XmlBounds, parse_xml

MAX_BYTES = 256_000
"""The largest definition, in XML or JSON."""

MAX_DEPTH = 12
MAX_TEXT_CHARS = 50_000

_BOUNDS = XmlBounds(depth=MAX_DEPTH, elements=2000, text_chars=MAX_TEXT_CHARS, refuse_long=True)
_LISTS = {"inputs": "input", "file_paths": "path", "evaluators": "evaluator", "tools": "tool"}
"""Elements that contain any number of one other element."""

_TEXTS_WITH_ATTRIBUTES = frozenset({"input"})

Location = tuple[str | int, ...]


class LoopDefinitionError(ValueError):
    """A definition cannot be used; the message names the line, if there is one, and the element.

    Attributes:
        problem: what is wrong.
        line: line in the XML, from 1; None for JSON.
        element: path of the element or field at fault; empty if it is the whole definition.
    """

    def __init__(self, problem: str, *, line: int | None = None, element: str = "") -> None:
        place = ", ".join(each for each in (f"line {line}" if line else "", element) if each)
        super().__init__(f"{place}: {problem}" if place else problem)
        self.problem = problem
        self.line = line
        self.element = element


@dataclass(frozen=True, slots=True)
class ReadXml:
    """The content of a document.

    Attributes:
        values: in the form that the model accepts.
        lines: the line of each value, by its place in `values`.
    """

    values: dict[str, Any]
    lines: dict[Location, int] = field(default_factory=dict[Location, int])

    def line_of(self, place: Location) -> int | None:
        """Return the line of a place, or of the nearest enclosing place."""
        while place not in self.lines and place:
            place = place[:-1]
        return self.lines.get(place)


def read_loop_xml(text: str | bytes) -> ReadXml:
    """Read a definition.

    Raises:
        LoopDefinitionError: it is not XML, is too large or too deep, has a document
            type, or repeats an element.
    """
    # The parser refuses lone surrogates and names their line; strict encoding would fail before it.
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        raise LoopDefinitionError(f"the definition has {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        root = parse_xml(data, _BOUNDS)
    except UnsafeXmlError as error:
        raise LoopDefinitionError(str(error), line=error.line, element=error.element) from error
    if root.tag != "task":
        raise LoopDefinitionError("the outermost element is not `task`", line=root.line, element=root.tag)
    reader = _Reader()
    return ReadXml(reader.read_root(root), reader.lines)


class _Reader:
    def __init__(self) -> None:
        self.lines: dict[Location, int] = {}

    def read_root(self, root: Element) -> dict[str, Any]:
        self.lines[()] = root.line
        return self._fields(root, ())

    def read(self, element: Element, place: Location) -> Any:
        self.lines[place] = element.line
        if element.tag in _LISTS:
            return self._list(element, place)
        if element.tag in _TEXTS_WITH_ATTRIBUTES:
            return self._with_attributes(element)
        if not element.children and not element.attributes:
            return element.text.strip()
        return self._fields(element, place)

    def _list(self, element: Element, place: Location) -> list[Any]:
        wanted = _LISTS[element.tag]
        for child in element.children:
            if child.tag != wanted:
                problem = f"`{element.tag}` holds only `{wanted}` elements"
                raise LoopDefinitionError(problem, line=child.line, element=_path(element.tag, child.tag))
        self._no_text(element)
        return [self.read(child, (*place, number)) for number, child in enumerate(element.children)]

    def _with_attributes(self, element: Element) -> dict[str, Any]:
        if element.children:
            child = element.children[0]
            raise LoopDefinitionError(
                f"`{element.tag}` can contain only text",
                line=child.line,
                element=_path(element.tag, child.tag),
            )
        text = element.text.strip()
        return {**element.attributes, **({"value": text} if text else {})}

    def _fields(self, element: Element, place: Location) -> dict[str, Any]:
        self._no_text(element)
        values: dict[str, Any] = dict(element.attributes)
        for child in element.children:
            if child.tag in values:
                path = _path(element.tag, child.tag)
                raise LoopDefinitionError(f"`{child.tag}` is given twice", line=child.line, element=path)
            values[child.tag] = self.read(child, (*place, child.tag))
        return values

    def _no_text(self, element: Element) -> None:
        if element.text.strip():
            raise LoopDefinitionError(
                "there is text between the elements", line=element.line, element=element.tag
            )


def _path(*tags: str) -> str:
    return "/".join(tags)
