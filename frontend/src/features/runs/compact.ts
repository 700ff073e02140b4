/** Turns what was typed into values of a request. Pure. */

/** Without the members that were left out. */
export function compact(members: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** What was typed, as a number where it is one; else as it is, for the service to refuse by name. */
export function numberOf(typed: string): number | string | undefined {
  const text = typed.trim();
  if (!text) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

export interface BudgetValues {
  readonly maxTokens: string;
  readonly maxCost: string;
}

/** Undefined without any limit. */
export function budgetOf(values: BudgetValues): object | undefined {
  const budget = compact({ tokens: numberOf(values.maxTokens), cost_usd: numberOf(values.maxCost) });
  return Object.keys(budget).length > 0 ? budget : undefined;
}

/** A script in JSON as its value; any other text as it is: the service reads it as TOML. */
export function scriptOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
