"""Opens the ledger of model requests and the model gateway of a worker."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from app.composition.tools import provider_keys
from app.core.config import Settings
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import Ledger
from app.gateway.prices import ListPrices
from app.gateway.upstreams import upstreams_of


@asynccontextmanager
async def open_gateway(settings: Settings, ledger: Ledger) -> AsyncGenerator[ModelGateway]:
    """Give the model gateway while the block runs.

    Args:
        settings: keys and addresses of the providers.
        ledger: keeps each request; `app.services.record.model_requests.open_ledger` opens the real one.
    """
    async with ModelGateway(upstreams_of(provider_keys(settings)), ListPrices(), ledger) as gateway:
        yield gateway
