/** What happened within the attempts of a run: each tool call and each evaluator, with its time. Pure. */
import { countOf } from "./log";
import type { RunEvent } from "./stream/frames";

export type SpanKind = "tool" | "between" | "evaluator" | "model";

export interface Span {
  /** The event that it begins with, as the log names its line. */
  readonly line: string;
  readonly kind: SpanKind;
  /** The tool or the evaluator. */
  readonly name: string;
  /** Whose it is, counted from 0; null where it is about all candidates, or where the event does not say. */
  readonly candidate: number | null;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** An evaluator's verdict. */
  readonly verdict: string | null;
}

/** Shorter gaps between tools are not shown. */
const LEAST_BETWEEN_MS = 500;

/** The spans of one attempt in the order of their beginning; what has not ended yet is left out. */
export function spansOf(events: readonly RunEvent[], phase: string, attempt: number): readonly Span[] {
  const open: Open = { calls: new Map(), quiet: new Map() };
  return events
    .filter((event) => event.phase === phase && event.attempt === attempt)
    .flatMap((event) => endedBy(event, open))
    .toSorted((one, other) => one.from - other.from);
}

export interface ModelRequest {
  readonly at: string;
  readonly latency_ms: number;
  readonly role: string;
  readonly model: string;
  readonly candidate: number | null;
  readonly status: number;
}

/**
 * The same with each model request in its place. Where the requests of an agent are known, they say what the time
 * between its tools was.
 */
export function withRequests(
  spans: readonly Span[],
  requests: readonly ModelRequest[],
  events: readonly RunEvent[],
): readonly Span[] {
  const metered = new Set(
    requests.filter((each) => each.role === "agent").map((each) => each.candidate ?? 0),
  );
  const others = spans.filter((each) => each.kind !== "between" || !metered.has(each.candidate ?? 0));
  return [...others, ...requests.map((each) => requestSpan(each, events))].toSorted(
    (one, other) => one.from - other.from,
  );
}

function requestSpan(request: ModelRequest, events: readonly RunEvent[]): Span {
  const from = Date.parse(request.at);
  // Events without a line in the log are nothing to go to.
  const lined = events.filter((each) => countOf(each) > 0);
  const before = lined.findLast((each) => at(each) <= from) ?? lined[0];
  return {
    line: `${before?.sequence ?? 1}.0`,
    kind: "model",
    name: request.role === "agent" ? request.model : `${request.model}, ${askerOf(request)}`,
    candidate: request.candidate,
    from,
    to: from + request.latency_ms,
    verdict: request.status >= 400 ? "errored" : null,
  };
}

/** The ledger has one role for all who judge; the one that chooses between candidates asks about none of them. */
const askerOf = ({ role, candidate }: ModelRequest) =>
  role === "judge" && candidate !== null ? "evaluator" : role;

/** What has begun, by candidate. */
interface Open {
  readonly calls: Map<number, RunEvent>;
  /** Since when no tool works. */
  readonly quiet: Map<number, RunEvent>;
}

/** The spans that end with an event. */
function endedBy(event: RunEvent, open: Open): readonly Span[] {
  const key = candidateOf(event) ?? 0;
  switch (event.event) {
    case "attempt.started":
    case "candidate.started":
      open.quiet.set(key, event);
      return [];
    case "tool.called":
      open.calls.set(key, event);
      return betweenSpans(event, taken(open.quiet, key));
    case "attempt.produced":
      return betweenSpans(event, taken(open.quiet, key));
    case "tool.result": {
      open.quiet.set(key, event);
      const call = taken(open.calls, key);
      return call ? [span(call, event, { kind: "tool", name: event.data.tool, verdict: null })] : [];
    }
    case "evaluator.completed":
      return [evaluatorSpan(event)];
    default:
      return [];
  }
}

function taken(begun: Map<number, RunEvent>, key: number): RunEvent | undefined {
  const event = begun.get(key);
  begun.delete(key);
  return event;
}

type Part = Pick<Span, "kind" | "name" | "verdict">;

function span(first: RunEvent, last: RunEvent, part: Part): Span {
  const from = at(first);
  const to = Math.max(from, at(last));
  return { ...part, line: `${first.sequence}.0`, candidate: candidateOf(first), from, to };
}

/** Between two tools an agent mostly waits for its model; the events do not tell the requests apart. */
function betweenSpans(event: RunEvent, since: RunEvent | undefined): readonly Span[] {
  if (!since || at(event) - at(since) < LEAST_BETWEEN_MS) return [];
  return [span(since, event, { kind: "between", name: "between tools", verdict: null })];
}

/** Evaluators run side by side, so each is as long as it says. */
function evaluatorSpan(event: RunEvent & { event: "evaluator.completed" }): Span {
  const { evaluator_name: name, status, passed, duration_ms } = event.data;
  const verdict = status ?? (passed ? "passed" : "failed");
  const ended = span(event, event, { kind: "evaluator", name, verdict });
  return { ...ended, from: ended.to - (duration_ms ?? 0) };
}

const at = (event: RunEvent) => Date.parse(event.timestamp ?? "");

function candidateOf(event: RunEvent): number | null {
  const data: object = event.data;
  return "candidate" in data && typeof data.candidate === "number" ? data.candidate : null;
}
