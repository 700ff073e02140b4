"""Wraps a model that this process asks itself: each request gets a line in the ledger and a span."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from app.agents.gateway_port import current_labels
from app.agents.models.failures import BudgetReachedError
from app.gateway.ledger import CLIENT_GONE, Budgets, Ledger, ModelRequest, NoBudgets
from app.gateway.prices import Cost, CostKind
from app.gateway.spans import describe, open_span
from app.gateway.usage_reading import Tokens

_FAILED = 503
_EXACT = Decimal("0.00000001")

BuildModel = Callable[[str], Model]


def recorded(build: BuildModel, ledger: Ledger, budgets: Budgets | None = None) -> BuildModel:
    """Return a function that makes models by name which check the budgets and record their requests."""
    return lambda name: RecordedModel(build(name), ledger, budgets)


class RecordedModel(WrapperModel):
    """Records each request in a ledger, with the labels of the code that asks.

    Args:
        wrapped: the model.
        ledger: stores the requests.
        budgets: checked before each request.
    """

    def __init__(self, wrapped: Model, ledger: Ledger, budgets: Budgets | None = None) -> None:
        super().__init__(wrapped)
        self._ledger = ledger
        self._budgets = budgets or NoBudgets()

    async def _check_budgets(self) -> None:
        reason = await self._budgets.spent(current_labels().run_id)
        if reason is not None:
            raise BudgetReachedError(reason)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Ask for a whole answer.

        Raises:
            BudgetReachedError: a budget is spent.
        """
        await self._check_budgets()
        with self._line() as line:
            response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            line.take(response)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Ask for a stream. Its ledger line is complete at the end of the block.

        Raises:
            BudgetReachedError: a budget is spent.
        """
        await self._check_budgets()
        with self._line() as line:
            async with self.wrapped.request_stream(
                messages, model_settings, model_request_parameters, run_context
            ) as response:
                try:
                    yield response
                finally:
                    line.take(response.get())

    @contextmanager
    def _line(self) -> Generator["_Line"]:
        line = _Line(self.wrapped)
        failure: BaseException | None = None
        with open_span(line.model, line.labels, line.provider) as span:
            try:
                yield line
            except BaseException as error:  # noqa: BLE001 - raised below: a span would keep the provider's words
                line.fail(error)
                failure = error
            request = line.end()
            self._ledger.record(request)
            describe(span, request)
        if failure is not None:
            raise failure


class _Line:
    """Collects the figures of one request for the ledger and the span."""

    def __init__(self, model: Model) -> None:
        self.labels = current_labels()
        self.provider = model.system
        self.model = model.model_name
        self._at = datetime.now(UTC)
        self._begun = time.monotonic()
        self._status = 200
        self._tokens = Tokens()
        self._cost = Cost()

    def take(self, response: ModelResponse) -> None:
        usage = response.usage
        self.model = response.model_name or self.model
        if usage.input_tokens or usage.output_tokens:
            self._tokens = Tokens(
                usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
            )
            self._cost = _cost(response)

    def fail(self, error: BaseException) -> None:
        match error:
            case ModelHTTPError():
                self._status = error.status_code
            case ModelAPIError():
                self._status = _FAILED
            case asyncio.CancelledError() | GeneratorExit():
                self._status = CLIENT_GONE
            case _:
                # The answer arrived. An error that the caller raises from it does not concern the ledger.
                pass

    def end(self) -> ModelRequest:
        return ModelRequest(
            labels=self.labels,
            provider=self.provider,
            model=self.model,
            tokens=self._tokens,
            cost=self._cost,
            status=self._status,
            latency_ms=round((time.monotonic() - self._begun) * 1000),
            at=self._at,
        )


def _cost(response: ModelResponse) -> Cost:
    try:
        dollars = response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return Cost()
    return Cost(dollars.quantize(_EXACT), CostKind.COMPUTED)
