import { describe, expect, it } from "vitest";

import type { CalibratedGate, Calibration, EvaluatorMetrics } from "./queries/metrics";
import { trustRows } from "./trust";

const measured = (evaluator: string, gate = true) => ({ evaluator, gate }) as unknown as EvaluatorMetrics;
const known = (evaluator: string, gate = true) => ({ evaluator, gate }) as unknown as CalibratedGate;
const calibration = {
  panel: known("panel"),
  evaluators: [known("pytest"), known("review", false), known("ruff_lint")],
} as unknown as Calibration;

describe("trustRows", () => {
  it("puts what is known of a gate side by side, advisers left out", () => {
    const rows = trustRows(
      [measured("type_check"), measured("ruff_lint"), measured("hint", false)],
      calibration,
    );
    expect(
      rows.map((each) => [each.name, each.calibrated !== undefined, each.production !== undefined]),
    ).toEqual([
      ["panel", true, false],
      ["pytest", true, false],
      ["ruff_lint", true, true],
      ["type_check", false, true],
    ]);
  });

  it("has no panel without a calibration", () => {
    expect(trustRows([measured("a")], undefined).map((each) => each.name)).toEqual(["a"]);
  });
});
