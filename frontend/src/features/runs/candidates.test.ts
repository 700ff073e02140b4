import { describe, expect, it } from "vitest";

import type { RunEvent } from "@/lib/stream/frames";

import { choiceOf, gatesOf } from "./candidates";

const candidate = (chosen: boolean, statuses: string[], error: string | null = null) =>
  ({
    chosen,
    error,
    evaluations: statuses.map((status) => ({ gate: true, status })),
  }) as unknown as Parameters<typeof gatesOf>[0];
const ATTEMPT = { phase: "coding", number: 1, choice_reason: "" };
const judged = (attempt: number) =>
  ({
    event: "judge.decided",
    phase: "coding",
    attempt,
    data: { rationale: "shorter", model: "m" },
  }) as unknown as RunEvent;

describe("candidates", () => {
  it.each([
    [["passed", "skipped"], "passed"],
    [["passed", "failed", "errored"], "failed"],
    [["passed", "errored"], "errored"],
    [[], "skipped"],
  ])("with gates %j are %s", (statuses, expected) => {
    expect(gatesOf(candidate(true, statuses)).status).toBe(expected);
  });

  it("say why one was chosen and the other was not", () => {
    const good = candidate(true, ["passed"]);
    const bad = candidate(false, ["failed"]);
    const equal = candidate(false, ["passed"]);
    const broken = candidate(false, [], "the model is away");
    const all = [good, bad, equal, broken];
    const told = (one: typeof good, events: RunEvent[] = []) => choiceOf(ATTEMPT, all, one, events);
    expect(told(good)).toBe("Chosen because the gates rank it first.");
    expect(told(good, [judged(1)])).toContain("rank alike: shorter");
    expect(told(good, [judged(2)])).toBe("Chosen because the gates rank it first.");
    expect(told(bad)).toBe("Not chosen: 1 gate did not pass, against 0 of the chosen one.");
    expect(told(equal, [judged(1)])).toBe("Not chosen: the judge preferred another candidate.");
    expect(told(equal)).toBe("Not chosen: another candidate came before it.");
    expect(told(broken)).toBe("Not chosen: its agent failed.");
  });
});
