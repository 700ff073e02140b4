import { describe, expect, it } from "vitest";

import { proofOf } from "./proof";
import type { RunDetail } from "./queries/runs";

const gate = (evaluator: string, status: string, feedback = "", isGate = true) => ({
  evaluator,
  status,
  feedback,
  gate: isGate,
});
const attempt = (phase: string, number: number, ...evaluations: object[]) => ({ phase, number, evaluations });
const run = (attempts: object[], escalations: object[] = []) =>
  ({ attempts, escalations }) as unknown as RunDetail;

describe("the proof of a result", () => {
  it("counts the gates of the deciding attempts, once each, with the number of tests", () => {
    const first = attempt("coding", 1, gate("pytest", "failed", "1 test failed"));
    const last = attempt(
      "coding",
      2,
      gate("pytest", "passed", "1,012 tests passed, 3 skipped\nProven: 1 of 1"),
      gate("style", "failed", "meh", false),
      gate("types", "skipped"),
    );
    const after = attempt("verification", 1, gate("claim", "passed", "The agent reports"));
    expect(proofOf(run([first, last, after]))).toEqual({
      text: "2 gates passed: pytest (1,012 tests passed, 3 skipped), claim; 1 skipped: types",
      accepted: [],
    });
  });

  it("names observed gates that would have blocked the result", () => {
    const judged = attempt("coding", 1, gate("pytest", "passed"), {
      ...gate("lint", "failed", "", false),
      observed: true,
    });
    expect(proofOf(run([judged])).text).toBe("1 gate passed: pytest; observed, blocked nothing: lint failed");
  });

  it("says which failures a reviewer accepted", () => {
    const judged = attempt("coding", 3, gate("pytest", "failed"), gate("lint", "passed"));
    const decided = {
      status: "resolved",
      decision: "accept",
      decided_by: "ada",
      phase: "coding",
      attempt: 3,
    };
    const open = { ...decided, status: "open", decision: null };
    const proof = proofOf(run([judged, attempt("coding", 4)], [decided, open]));
    expect(proof.text).toBe("1 gate passed: lint; 1 failed: pytest");
    expect(proof.accepted).toEqual(["ada accepted coding attempt 3, which 1 gate did not pass"]);
  });

  it("claims nothing without gates", () => {
    expect(proofOf(run([])).text).toBe("No gate passed");
  });
});
