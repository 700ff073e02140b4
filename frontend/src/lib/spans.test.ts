import { describe, expect, it } from "vitest";

import { spansOf, withRequests } from "./spans";
import type { RunEvent } from "./stream/frames";

const START = Date.UTC(2026, 0, 1);
const event = (sequence: number, seconds: number, name: string, data: object, attempt = 1) =>
  ({
    event: name,
    sequence,
    timestamp: new Date(START + seconds * 1000).toISOString(),
    phase: "coding",
    attempt,
    data,
  }) as unknown as RunEvent;
const called = (sequence: number, seconds: number, tool: string, candidate = 0) =>
  event(sequence, seconds, "tool.called", { tool, text: "", candidate });
const result = (sequence: number, seconds: number, tool: string, candidate = 0) =>
  event(sequence, seconds, "tool.result", { tool, text: "", candidate });
const told = (events: readonly RunEvent[]) =>
  spansOf(events, "coding", 1).map((each) => [each.name, each.line, each.from - START, each.to - START]);

describe("spansOf", () => {
  it("pairs each call with its result, and fills what lies between", () => {
    const events = [
      event(1, 0, "attempt.started", {}),
      called(2, 4, "read_file"),
      result(3, 5, "read_file"),
      called(4, 5.1, "write_file"),
      result(5, 7, "write_file"),
    ];
    expect(told(events)).toEqual([
      ["between tools", "1.0", 0, 4000],
      ["read_file", "2.0", 4000, 5000],
      ["write_file", "4.0", 5100, 7000],
    ]);
  });

  it("keeps candidates apart that work at the same time", () => {
    const events = [called(1, 0, "a", 1), called(2, 1, "b", 2), result(3, 2, "b", 2), result(4, 9, "a", 1)];
    expect(told(events)).toEqual([
      ["a", "1.0", 0, 9000],
      ["b", "2.0", 1000, 2000],
    ]);
  });

  it("takes an evaluator's own duration, and its verdict", () => {
    const done = (duration: number | null) =>
      event(1, 10, "evaluator.completed", {
        evaluator_name: "pytest",
        status: "errored",
        passed: false,
        duration_ms: duration,
      });
    expect(told([done(3000)])).toEqual([["pytest", "1.0", 7000, 10_000]]);
    expect(told([done(null)])).toEqual([["pytest", "1.0", 10_000, 10_000]]);
    expect(spansOf([done(1)], "coding", 1)[0]?.verdict).toBe("errored");
    // Its event names no candidate; the first is as good a guess as the second.
    expect(spansOf([done(1)], "coding", 1)[0]?.candidate).toBeNull();
  });

  it("leaves out other attempts, results without a call and calls without a result", () => {
    const events = [result(1, 0, "lost"), called(2, 0.1, "open"), event(3, 0, "attempt.started", {}, 2)];
    expect(told(events)).toEqual([]);
    expect(spansOf([], "coding", 1)).toEqual([]);
  });
});

it("sends the reader of a model request to an event that has a line in the log", () => {
  const events = [
    event(1, 0, "attempt.started", {}),
    event(2, 1, "candidate.started", { candidate: 0 }),
    called(3, 4, "read_file"),
  ];
  const request = { at: new Date(START + 2000).toISOString(), latency_ms: 9, role: "agent", model: "m" };
  const [first] = withRequests([], [{ ...request, candidate: 0, status: 200 }], events);
  expect(first?.line).toBe("1.0");
});

it("puts model requests in the place of the time between tools, where they are known", () => {
  const events = [
    event(1, 0, "attempt.started", {}),
    called(2, 4, "read_file"),
    result(3, 5, "read_file"),
    called(4, 8, "write_file", 1),
    result(5, 9, "write_file", 1),
  ];
  const ask = (seconds: number, role: string, status = 200) => ({
    at: new Date(START + seconds * 1000).toISOString(),
    latency_ms: 2000,
    role,
    model: "gpt-5",
    candidate: 0,
    status,
  });
  const spans = withRequests(
    spansOf(events, "coding", 1),
    [ask(1, "agent"), ask(6, "judge", 503)],
    events.filter((each) => each.attempt === 1),
  );
  expect(spans.map((each) => [each.kind, each.name, each.line, each.from - START, each.to - START])).toEqual([
    ["model", "gpt-5", "1.0", 1000, 3000],
    ["tool", "read_file", "2.0", 4000, 5000],
    ["model", "gpt-5, evaluator", "3.0", 6000, 8000],
    ["tool", "write_file", "4.0", 8000, 9000],
  ]);
  expect(spans[2]?.verdict).toBe("errored");
});
