/** What is known of each gate: from known cases, and from production. Pure. */
import type { CalibratedGate, Calibration, EvaluatorMetrics } from "./queries/metrics";

/** The verdict on whole cases; production has no single evaluator of that name. */
export const PANEL = "panel";

export interface TrustRow {
  readonly name: string;
  readonly calibrated: CalibratedGate | undefined;
  readonly production: EvaluatorMetrics | undefined;
}

/** The panel first, then every gate that decided in production or in the calibration. */
export function trustRows(
  production: readonly EvaluatorMetrics[],
  calibration: Calibration | undefined,
): readonly TrustRow[] {
  const gates = production.filter((each) => each.gate);
  const calibrated = calibration?.evaluators.filter((each) => each.gate) ?? [];
  const names = new Set([...gates, ...calibrated].map((each) => each.evaluator));
  const rows = [...names].toSorted().map((name) => ({
    name,
    calibrated: calibrated.find((each) => each.evaluator === name),
    production: gates.find((each) => each.evaluator === name),
  }));
  return calibration
    ? [{ name: PANEL, calibrated: calibration.panel, production: undefined }, ...rows]
    : rows;
}
