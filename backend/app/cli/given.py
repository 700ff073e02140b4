"""Validates user input with a model, and names the value that is wrong."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.cli.exits import CliError
from app.core.field_paths import field_path

_BODY = "body"

Model = TypeVar("Model", bound=BaseModel)


def read_given(model: type[Model], fields: Mapping[str, Any]) -> Model:
    """Return the model made from the fields. Fields that are None count as not given.

    Raises:
        CliError: a value is not valid. The message names it.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        is_missing = first["type"] == "missing"
        place = field_path((_BODY, *first["loc"]), given, is_missing=is_missing) if first["loc"] else ""
        message = first["msg"].removeprefix("Value error, ")
        raise CliError(f"{place}: {message}" if place else message) from error
