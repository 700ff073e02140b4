/** The columns of the runs table that can be chosen. Pure. */

export const COLUMNS = {
  kind: "Kind",
  project: "Project",
  phase: "Phase",
  attempt: "Attempt",
  score: "Score",
  started: "Started",
  took: "Took",
  cost: "Cost",
  agent: "Agent",
} as const;

export type Column = keyof typeof COLUMNS;

const ALL = Object.keys(COLUMNS) as Column[];

/** What the address says (names with commas between) as columns; all without it. */
export function columnsOf(text: string | undefined): ReadonlySet<Column> {
  if (text === undefined) return new Set(ALL);
  const named = text.split(",");
  return new Set(ALL.filter((each) => named.includes(each)));
}

/** What the address says after a column was shown or hidden; nothing for all of them. */
export function withColumn(shown: ReadonlySet<Column>, column: Column, isShown: boolean): string | undefined {
  const next = ALL.filter((each) => (each === column ? isShown : shown.has(each)));
  return next.length === ALL.length ? undefined : next.join(",");
}
