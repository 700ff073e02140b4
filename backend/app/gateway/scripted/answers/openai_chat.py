"""Writes the scripted model's output as OpenAI's chat completions, whole or as a stream."""

from collections.abc import Iterator

from app.gateway.scripted.answers.answer import CREATED, Content, Scripted, Turnover


def whole(answer: Scripted) -> Content:
    """Return the answer as one document."""
    message: Content = {"role": "assistant", "content": answer.spoken.text or None}
    if answer.spoken.tool:
        message["tool_calls"] = [_call(answer)]
    choice = {"index": 0, "message": message, "finish_reason": _ending(answer)}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer.usage)}


def stream(answer: Scripted) -> Iterator[Content]:
    """Yield the contents of the stream's events."""
    head = _head(answer, "chat.completion.chunk")

    def chunk(delta: Content, ending: str | None = None) -> Content:
        choice = {"index": 0, "delta": delta, "finish_reason": ending}
        return {**head, "choices": [choice], **({"usage": None} if answer.request.wants_usage else {})}

    yield chunk({"role": "assistant", "content": ""})
    for piece in answer.pieces():
        yield chunk({"content": piece})
    if answer.spoken.tool:
        yield chunk({"tool_calls": [{"index": 0, **_call(answer)}]})
    yield chunk({}, _ending(answer))
    if answer.request.wants_usage:
        yield {**head, "choices": [], "usage": _usage(answer.usage)}


def _usage(usage: Turnover) -> Content:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _call(answer: Scripted) -> Content:
    function = {"name": answer.spoken.tool, "arguments": answer.arguments}
    return {"id": answer.call_id, "type": "function", "function": function}


def _ending(answer: Scripted) -> str:
    return "tool_calls" if answer.spoken.tool else "stop"


def _head(answer: Scripted, kind: str) -> Content:
    return {
        "id": f"scripted-{answer.number}",
        "object": kind,
        "created": CREATED,
        "model": answer.model,
        "system_fingerprint": "scripted",
    }
