import { describe, expect, it } from "vitest";

import { activityOf, placeOf, spentOf } from "./activity";
import { formatCost, formatCount } from "./format";
import type { RunEvent } from "./stream/frames";

const RUN = {
  status: "active",
  status_reason: "",
  phase: "coding",
  attempt: 2,
  paused: null,
  finished_at: null,
  updated_at: "2026-01-01T00:00:00Z",
} as const;

const OVER = { status: "completed", phase: null, finished_at: RUN.updated_at } as const;

let sequence = 0;
function event(name: string, data: object): RunEvent {
  sequence += 1;
  return { event: name, data, sequence, timestamp: `2026-01-01T00:00:${sequence}0Z` } as unknown as RunEvent;
}

describe("what a run does now", () => {
  it.each([
    ["edit_file", "path='teatime/duration.py', old='a', new='b'", "editing teatime/duration.py"],
    ["write", "teatime/duration.py", "editing teatime/duration.py"],
    ["Bash", "command='ls -la'", "running ls -la"],
    ["run_tests", "", "running the tests"],
    ["read_file", "path='a, b.py', first_line='1'", "reading a, b.py"],
    ["search", "pattern='x = \"1\"', path='.'", 'searching for x = "1"'],
    ["ponder", "deep=1", "using ponder"],
  ])("tells %s(%s)", (tool, text, told) => {
    expect(activityOf(RUN, [event("tool.called", { tool, text })]).text).toBe(told);
  });

  it("cuts what would move the line, and takes out what steers a terminal", () => {
    const { text } = activityOf(RUN, [
      event("tool.called", { tool: "bash", text: `\u001B[31m${"x".repeat(500)}` }),
    ]);
    expect(text.length).toBeLessThan(100);
    expect(text).not.toContain("\u001B");
  });

  it("names the evaluators that have not answered", () => {
    const started = event("evaluation.started", { evaluators: ["ruff_lint", "pytest", "type_check"] });
    const done = event("evaluator.completed", { evaluator_name: "ruff_lint" });
    expect(activityOf(RUN, [started]).text).toBe("evaluating: ruff_lint and 2 more");
    expect(activityOf(RUN, [started, done])).toEqual({
      text: "evaluating: pytest and 1 more",
      since: done.timestamp,
    });
  });

  it.each([
    [{ ...RUN, status: "waiting" }, "waits for a person"],
    [{ ...RUN, status: "queued" }, "waits for a worker"],
    [{ ...RUN, paused: { at: RUN.updated_at, by: "ada", reason: "" } }, "paused by ada"],
    [{ ...RUN, ...OVER, status_reason: "every phase passed" }, "every phase passed"],
    [{ ...RUN, ...OVER }, "completed"],
    [RUN, "begins"],
  ] as const)("says what holds a run (%#)", (run, told) => {
    expect(activityOf(run, []).text).toBe(told);
  });

  it("looks past events that say nothing about now", () => {
    const events = [event("tool.result", { tool: "x", text: "" }), event("workflow.status", {})];
    expect(activityOf(RUN, events).text).toBe("thinking");
  });

  it("says after which call an agent thinks", () => {
    const called = event("tool.called", { tool: "write", text: "a.py" });
    const result = event("tool.result", { tool: "write", text: "wrote a.py" });
    expect(activityOf(RUN, [called, result])).toEqual({
      text: "thinking after editing a.py",
      since: result.timestamp,
    });
  });

  it("says where it is", () => {
    expect(placeOf(RUN)).toBe("coding, attempt 2");
    expect(placeOf({ ...RUN, phase: null })).toBe("");
  });
});

describe("what it cost", () => {
  const usage = { requests: 1, tool_calls: 0, input_tokens: 900, output_tokens: 100, cost_usd: 0.03 };
  const of = (budget: { cost_usd: number | null; tokens: number | null }, more: object = {}) =>
    spentOf({ usage: { ...usage, ...more }, policy: { budget } }, formatCost, formatCount);

  it.each([
    [of({ cost_usd: 2, tokens: null }), "$0.03 of $2.00"],
    [of({ cost_usd: 2, tokens: null }, { cost_usd: null }), "unknown of $2.00"],
    [of({ cost_usd: null, tokens: 5000 }), "1,000 of 5,000 tokens"],
    [of({ cost_usd: null, tokens: null }), "$0.03"],
    [of({ cost_usd: null, tokens: null }, { cost_usd: null }), "1,000 tokens, cost unknown"],
    [of({ cost_usd: null, tokens: null }, { cost_usd: null, input_tokens: 0, output_tokens: 0 }), ""],
  ])("shows its limit: %s", (told, wanted) => {
    expect(told).toBe(wanted);
  });
});
