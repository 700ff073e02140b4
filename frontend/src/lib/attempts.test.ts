import { describe, expect, it } from "vitest";

import { columnsOf } from "./attempts";
import type { Attempt, Evaluation } from "./queries/runs";
import type { RunEvent } from "./stream/frames";

function gate(
  evaluator: string,
  status: string,
  failing: readonly string[] = [],
  more: object = {},
): Evaluation {
  return {
    evaluator,
    status,
    gate: true,
    suggestions: [],
    metadata: { failing },
    ...more,
  } as unknown as Evaluation;
}

function attempt(number: number, ...evaluations: Evaluation[]): Attempt {
  return { phase: "coding", number, changed_files: [], evaluations } as unknown as Attempt;
}

const changes = (attempts: Attempt[]) =>
  columnsOf(attempts, "coding", []).map((column) =>
    column.gates.map(({ change, findings }) => [
      change,
      ...findings.map((each) => `${each.change} ${each.text}`),
    ]),
  );

describe("attempts side by side", () => {
  it("says what each attempt did to each complaint", () => {
    const found = changes([
      attempt(1, gate("pytest", "failed", ["a", "b"])),
      attempt(2, gate("pytest", "failed", ["b", "c"])),
      attempt(3, gate("pytest", "passed")),
      attempt(4, gate("pytest", "failed", ["a"])),
    ]);
    expect(found).toEqual([
      [["failing", "failing a", "failing b"]],
      [["still failing", "still failing b", "regressed c", "fixed a"]],
      [["fixed", "fixed b", "fixed c"]],
      [["regressed", "regressed a"]],
    ]);
  });

  it("takes no verdict for no change, and compares with the verdict before it", () => {
    const found = changes([
      attempt(1, gate("pytest", "failed", ["a"])),
      attempt(2, gate("pytest", "errored")),
      attempt(3, gate("pytest", "failed", ["a"])),
    ]);
    expect(found).toEqual([[["failing", "failing a"]], [[null]], [["still failing", "still failing a"]]]);
  });

  it("knows a complaint again when its line has moved", () => {
    const lint = (line: number) =>
      gate("ruff_lint", "failed", [], { metadata: {}, suggestions: [`F401 in a.py:${line}:1`] });
    expect(changes([attempt(1, lint(3)), attempt(2, lint(9))])[1]).toEqual([
      ["still failing", "still failing F401 in a.py:9:1"],
    ]);
  });

  it("shows gates of one phase, and what each attempt was told", () => {
    const adviser = gate("llm_code_quality", "failed", ["x"], { gate: false });
    const told = {
      event: "optimization.started",
      phase: "coding",
      data: { next_attempt: 2, issues: ["Fix a"], guidance: ["Be brief"] },
    } as unknown as RunEvent;
    const other = { ...attempt(1), phase: "verification" } as Attempt;
    const [first, second, ...rest] = columnsOf([attempt(1, adviser), attempt(2), other], "coding", [told]);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({ issues: [], gates: [] });
    expect(second).toMatchObject({ issues: ["Fix a"], guidance: ["Be brief"] });
  });
});
