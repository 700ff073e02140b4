"""Models that the service asks itself enter their requests into the ledger, too."""

from uuid import uuid4

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from app.agents.gateway_port import Dialect, RequestLabels, current_labels, labelled
from app.agents.models.factory import build_model
from app.agents.models.providers import ProviderKeys
from app.gateway.prices import CostKind
from app.gateway.recorded_model import RecordedModel, recorded
from app.gateway.scripted.server import Mode, ScriptedModelServer
from app.schemas.runs import ModelRole
from tests.integration.gateway.support import MODEL, MemoryLedger

pytestmark = pytest.mark.anyio

LABELS = RequestLabels(uuid4(), "coding", 2, 1, ModelRole.JUDGE)


def keys(server: ScriptedModelServer) -> ProviderKeys:
    upstreams = server.upstreams()
    anthropic, openai = upstreams[Dialect.ANTHROPIC].base_url, upstreams[Dialect.OPENAI_CHAT].base_url
    return ProviderKeys("key", "key", anthropic, openai)


@pytest.mark.parametrize("name", [f"anthropic:{MODEL}", "openai:gpt-5", "openai-chat:gpt-5"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_request_is_a_line_with_the_labels_of_the_asker(name: str, stream: bool) -> None:
    ledger = MemoryLedger()
    async with ScriptedModelServer() as server:
        model = recorded(lambda each: build_model(each, keys(server)), ledger)(name)
        async with model:
            with labelled(LABELS):
                await _ask(model, stream=stream)
    [line] = ledger.lines
    assert (line.labels, line.status, line.model) == (LABELS, 200, name.partition(":")[2])
    assert (line.tokens.input, line.tokens.output) == (2000, 100)
    assert line.cost.kind is CostKind.COMPUTED


@pytest.mark.parametrize("name", [f"anthropic:{MODEL}", "openai:gpt-5", "openai-chat:gpt-5"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_request_is_one_span_with_the_figures_of_its_line_and_no_content(
    name: str, stream: bool, exporter: InMemorySpanExporter
) -> None:
    ledger = MemoryLedger()
    async with ScriptedModelServer() as server:
        model = recorded(lambda each: build_model(each, keys(server)), ledger)(name)
        async with model:
            with labelled(LABELS):
                await _ask(model, stream=stream)
                server.behave(Mode.UNAUTHORIZED)
                with pytest.raises(ModelHTTPError):
                    await _ask(model, stream=stream)
    good, bad = _requests(exporter)
    first, second = ledger.lines
    found = dict(good.attributes or {})
    assert found["gen_ai.provider.name"] == first.provider
    assert found["gen_ai.request.model"] == found["gen_ai.response.model"] == first.model
    assert found["gen_ai.usage.input_tokens"] == first.tokens.input == 2000
    assert found["gen_ai.usage.output_tokens"] == first.tokens.output == 100
    assert found["operation.cost"] == float(first.cost.dollars or 0) > 0
    place = [found[each] for each in ("run_id", "phase", "attempt", "candidate", "role")]
    assert place == [str(LABELS.run_id), "coding", 2, 1, "judge"]
    failed = dict(bad.attributes or {})
    assert failed["error.type"] == str(second.status) == "401"
    shown = " ".join(each.to_json() for each in exporter.get_finished_spans())
    assert "Work." not in shown
    assert "This answer is scripted" not in shown
    assert "the key is not valid" not in shown


def _requests(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    spans = exporter.get_finished_spans()
    return [each for each in spans if (each.attributes or {}).get("gen_ai.operation.name") == "chat"]


async def _ask(model: Model, *, stream: bool) -> None:
    if not stream:
        await Agent(model).run("Work.")
        return
    async with Agent(model).run_stream("Work.") as run:
        await run.get_output()


async def test_a_refused_request_is_a_line_with_its_status() -> None:
    ledger = MemoryLedger()
    async with ScriptedModelServer() as server:
        server.behave(Mode.UNAUTHORIZED)
        model = RecordedModel(build_model(f"anthropic:{MODEL}", keys(server)), ledger)
        async with model:
            with pytest.raises(ModelHTTPError):
                await Agent(model).run("Work.")
    [line] = ledger.lines
    assert (line.status, line.cost.kind, line.labels) == (401, CostKind.UNKNOWN, RequestLabels())


async def test_a_model_without_a_price() -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        usage = RequestUsage(input_tokens=5, output_tokens=1)
        return ModelResponse([TextPart("Yes.")], usage=usage)

    ledger = MemoryLedger()
    await Agent(RecordedModel(FunctionModel(answer), ledger)).run("Work.")
    [line] = ledger.lines
    assert (line.tokens.total, line.cost.dollars) == (6, None)


def test_labels_hold_inside_their_block_only() -> None:
    with labelled(LABELS):
        assert current_labels() == LABELS
    assert current_labels() == RequestLabels()
