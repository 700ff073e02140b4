"""Writes the scripted model's output as OpenAI's responses, whole or as a stream."""

from collections.abc import Iterator

from app.gateway.scripted.answers.answer import CREATED, Content, Scripted, Turnover


def whole(answer: Scripted) -> Content:
    """Return the answer as one document."""
    return _head(answer, "completed", [_item(answer)])


def stream(answer: Scripted) -> Iterator[Content]:
    """Yield the contents of the stream's events."""
    for number, event in enumerate(_events(answer)):
        yield {**event, "sequence_number": number}


def _usage(usage: Turnover) -> Content:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }


def _head(answer: Scripted, status: str, output: list[Content]) -> Content:
    return {
        "id": f"resp_scripted_{answer.number}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": answer.model,
        "output": output,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "temperature": None,
        "top_p": None,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(answer.usage) if status == "completed" else None,
    }


def _item(answer: Scripted, *, filled: bool = True) -> Content:
    status = "completed" if filled else "in_progress"
    if answer.spoken.tool:
        return {
            "id": f"fc_scripted_{answer.number}",
            "type": "function_call",
            "status": status,
            "call_id": answer.call_id,
            "name": answer.spoken.tool,
            "arguments": answer.arguments if filled else "",
        }
    content = [_text_part(answer.spoken.text)] if filled else []
    name = f"msg_scripted_{answer.number}"
    return {"id": name, "type": "message", "status": status, "role": "assistant", "content": content}


def _text_part(text: str) -> Content:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _events(answer: Scripted) -> Iterator[Content]:
    item = _item(answer)
    place = {"item_id": item["id"], "output_index": 0}
    part = {**place, "content_index": 0}
    begun = _head(answer, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    added = _item(answer, filled=False)
    yield {"type": "response.output_item.added", "output_index": 0, "item": added}
    if answer.spoken.tool:
        yield {"type": "response.function_call_arguments.delta", **place, "delta": answer.arguments}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": answer.arguments}
    else:
        yield {"type": "response.content_part.added", **part, "part": _text_part("")}
        for piece in answer.pieces():
            yield {"type": "response.output_text.delta", **part, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **part, "text": answer.spoken.text, "logprobs": []}
        yield {"type": "response.content_part.done", **part, "part": _text_part(answer.spoken.text)}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": whole(answer)}
