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

/** In rem: with fixed widths rows that come into sight neither move columns nor make the browser measure others. */
export const WIDTHS: Readonly<Record<Column, number>> = {
  kind: 4.7,
  project: 6.3,
  phase: 6.7,
  attempt: 4.9,
  score: 4,
  started: 6.3,
  took: 6.6,
  cost: 4.5,
  agent: 6.3,
};
const WIDER: ReadonlySet<Column> = new Set(["project", "agent"]);

/** As CSS; columns of names become wider with the window. */
export function widthOf(column: Column): string {
  const least = `${WIDTHS[column]}rem`;
  return WIDER.has(column) ? `clamp(${least}, 9.5vw - 0.6rem, 12rem)` : least;
}

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
