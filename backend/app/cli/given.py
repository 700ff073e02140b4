"""Reads what a user gave into a model, or says which value is wrong."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.cli.exits import CliError

Model = TypeVar("Model", bound=BaseModel)


def read_given(model: type[Model], fields: Mapping[str, Any]) -> Model:
    """Make the model of the fields; those that are None count as not given.

    Raises:
        CliError: a value is not valid; the message names it.
    """
    try:
        return model.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise CliError(f"{place}: {message}" if place else message) from error
