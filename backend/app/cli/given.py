"""Reads what a user gave into a model, or says which value is wrong."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.cli.exits import CliError
from app.core.field_paths import field_path

_BODY = "body"

Model = TypeVar("Model", bound=BaseModel)


def read_given(model: type[Model], fields: Mapping[str, Any]) -> Model:
    """Make the model of the fields; those that are None count as not given.

    Raises:
        CliError: a value is not valid; the message names it.
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
