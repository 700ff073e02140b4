"""Prints the OpenAPI document, from which the dashboard's types are generated."""

import json
import sys
from typing import Any, cast

from app.api.app import AccessRules, create_app
from app.api.edge.access import ApiServices
from app.realtime.hub import Hub
from app.realtime.reader import EventReader


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document. This calls no service, so none is built."""
    nothing = cast("Any", None)
    app = create_app(
        cast("ApiServices", nothing),
        cast("Hub", nothing),
        cast("EventReader", nothing),
        AccessRules(),
        version="0",
    )
    return app.openapi()


if __name__ == "__main__":
    json.dump(openapi_document(), sys.stdout)
