"""Makes POSTs safe to repeat, through the header `Idempotency-Key`."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.responses import JSONResponse

from app.api.edge.access import Services
from app.core.security import Principal
from app.services.control.idempotency import Act, IdempotencyService, Once, digest_of_request


@dataclass(frozen=True, slots=True)
class RepeatableRequest:
    """One POST."""

    service: IdempotencyService
    key: str | None
    route: str
    digest: bytes

    async def respond(self, act: Act, *, status: int = 200) -> JSONResponse:
        """Act once and return the response, or return the stored response of an earlier request."""
        reply = await self.service.once(Once(self.key, self.route, self.digest, status), act)
        headers = {"Idempotency-Replayed": "true"} if reply.repeated else None
        return JSONResponse(reply.body, reply.status, headers)


async def get_repeatable(
    request: Request,
    services: Services,
    idempotency_key: Annotated[
        str | None,
        Header(
            description="Repeated requests with the same key and body get the first response, for a week."
        ),
    ] = None,
) -> RepeatableRequest:
    """Return the request with its key."""
    principal: Principal = request.scope["principal"]
    body = await request.body()
    asked = request.url.query.encode()
    digest = digest_of_request(principal.name, body + b"?" + asked if asked else body)
    route = f"{request.method} {request.url.path}"
    return RepeatableRequest(services.idempotency, idempotency_key, route, digest)


Repeatable = Annotated[RepeatableRequest, Depends(get_repeatable)]
