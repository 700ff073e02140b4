"""Query parameters that a route does not take are refused: without a filter, a list looks like a result."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, get_origin

from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.requests import Request

_MAX_SHOWN = 10
_MAX_NAME_CHARS = 100


@dataclass(frozen=True, slots=True)
class QueryNames:
    """The query parameters of a route: those that may appear once, and those that may be repeated."""

    single: frozenset[str]
    repeatable: frozenset[str]

    @classmethod
    def of(cls, dependant: Dependant) -> Self:
        """Return those that a route and its dependencies declare."""
        declared = dict(_declared(dependant))
        lists = {name for name, annotation in declared.items() if get_origin(annotation) is list}
        return cls(frozenset(declared.keys() - lists), frozenset(lists))

    def check(self, request: Request) -> None:
        """Refuse parameters that the route does not take, and values that would be ignored.

        Raises:
            RequestValidationError: it names each of them.
        """
        counts = Counter(name for name, _ in request.query_params.multi_items())
        faults = [
            {"type": "query", "loc": ("query", name[:_MAX_NAME_CHARS]), "msg": fault}
            for name, count in counts.items()
            if (fault := self._fault(name, count))
        ]
        if faults:
            raise RequestValidationError(faults[:_MAX_SHOWN])

    def _fault(self, name: str, count: int) -> str:
        if name in self.single:
            return "" if count == 1 else f"given {count} times; it takes one value"
        if name in self.repeatable:
            return ""
        known = sorted(self.single | self.repeatable)
        return f"unknown; there are {', '.join(known)}" if known else "unknown; there are no query parameters"


def _declared(dependant: Dependant) -> Iterator[tuple[str, Any]]:
    for field in dependant.query_params:
        annotation = field.field_info.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _fields(annotation)
        else:
            yield field.alias, annotation
    for each in dependant.dependencies:
        yield from _declared(each)


def _fields(model: type[BaseModel]) -> Iterable[tuple[str, Any]]:
    return ((field.alias or name, field.annotation) for name, field in model.model_fields.items())
