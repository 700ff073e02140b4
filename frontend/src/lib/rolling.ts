/** Shares over a window that moves: each takes in the steps before it. Pure. */
import type { MetricShare } from "./queries/metrics";

const Z = 1.96;

/** The cases of up to `size` steps together; the links stay those of the step itself. */
export function rollingShares(shares: readonly MetricShare[], size: number): readonly MetricShare[] {
  return shares.map((share, index) => {
    const window = shares.slice(Math.max(0, index - size + 1), index + 1);
    const count = window.reduce((sum, each) => sum + each.count, 0);
    const of = window.reduce((sum, each) => sum + each.of, 0);
    return { ...share, count, of, ...wilson(count, of) };
  });
}

/** A share with its 95 % interval after Wilson; no cases give no share. */
export function wilson(
  count: number,
  of: number,
): { value: number | null; low: number | null; high: number | null } {
  if (of === 0) return { value: null, low: null, high: null };
  const value = count / of;
  const spread = 1 + (Z * Z) / of;
  const middle = (value + (Z * Z) / (2 * of)) / spread;
  const half = (Z / spread) * Math.sqrt((value * (1 - value)) / of + (Z * Z) / (4 * of * of));
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
