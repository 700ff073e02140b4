"""Writes the scripted model's output as Gemini's contents, whole or as a stream."""

from collections.abc import Iterator

from app.gateway.scripted.answers.answer import Content, Scripted


def whole(answer: Scripted) -> Content:
    """Return the answer as one document."""
    return _part(answer, _content(answer), ending=True)


def stream(answer: Scripted) -> Iterator[Content]:
    """Yield the contents of the stream's events."""
    if answer.spoken.tool:
        yield whole(answer)
        return
    for piece in answer.pieces():
        yield _part(answer, {"text": piece}, ending=False)
    yield _part(answer, {"text": ""}, ending=True)


def _content(answer: Scripted) -> Content:
    if answer.spoken.tool:
        return {"functionCall": {"name": answer.spoken.tool, "args": dict(answer.spoken.arguments or {})}}
    return {"text": answer.spoken.text}


def _part(answer: Scripted, part: Content, *, ending: bool) -> Content:
    candidate: Content = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if ending:
        candidate["finishReason"] = "STOP"
    output = answer.usage.output if ending else 1
    usage = {
        "promptTokenCount": answer.usage.input,
        "cachedContentTokenCount": answer.usage.cached,
        "candidatesTokenCount": output,
        "totalTokenCount": answer.usage.input + output,
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": answer.model}
