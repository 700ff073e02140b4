"""What evaluators that ask a model consumed, as they say in their metadata."""

from collections.abc import Iterable
from typing import Any, cast

from pydantic import ValidationError

from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.runs import Usage


def judges_usage(results: Iterable[EvaluationResult]) -> Usage:
    """What evaluators that ask a model consumed; they say so in their metadata, also without a verdict."""
    found = [each.metadata.get("usage") for each in results]
    return Usage.total(_usage(cast("dict[str, Any]", each)) for each in found if isinstance(each, dict))


def _usage(told: dict[str, Any]) -> Usage:
    try:
        return Usage.model_validate({name: told[name] for name in Usage.model_fields if name in told})
    except ValidationError:
        # Other packages' evaluators may keep something else under this name.
        return Usage()
