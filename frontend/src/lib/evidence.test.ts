import { describe, expect, it } from "vitest";

import { attemptToShow, byAttention, furtherSuggestions, isScored } from "./evidence";
import type { Attempt, Evaluation } from "./queries/runs";

function evaluation(evaluator: string, over: Partial<Evaluation> = {}): Evaluation {
  return { evaluator, status: "passed", gate: true, feedback: "", suggestions: [], ...over } as Evaluation;
}

describe("byAttention", () => {
  it("puts gates that did not pass before advice, and passes last", () => {
    const verdicts = [
      evaluation("passed"),
      evaluation("skipped", { status: "skipped" }),
      evaluation("adviser", { status: "failed", gate: false }),
      evaluation("errored", { status: "errored" }),
      evaluation("failed", { status: "failed" }),
    ];
    expect(byAttention(verdicts).map((each) => each.evaluator)).toEqual([
      "failed",
      "errored",
      "skipped",
      "adviser",
      "passed",
    ]);
  });
});

describe("furtherSuggestions", () => {
  it("keeps what the feedback does not say, and nothing that it says with more words around it", () => {
    const feedback = "1 of 2 tests failed\n- Fix test_a: 1 is not 2 (fails at base, too)";
    const suggestions = ["Fix test_a: 1 is not 2", "Read the plan"];
    expect(furtherSuggestions(evaluation("pytest", { feedback, suggestions }))).toEqual(["Read the plan"]);
  });
});

it.each([
  ["passed", true],
  ["failed", true],
  ["errored", false],
  ["skipped", false],
] as const)("a verdict that is %s has a score: %s", (status, scored) => {
  expect(isScored(evaluation("any", { status }))).toBe(scored);
});

it("shows the latest attempt that was judged, not the one that just began", () => {
  const attempts = [
    { number: 1, evaluations: [evaluation("pytest")] },
    { number: 2, evaluations: [] },
  ] as unknown as Attempt[];
  expect(attemptToShow(attempts)?.number).toBe(1);
  expect(attemptToShow([])).toBeUndefined();
});
