/** Every share of a report as rows of a table, for programs that read tables. Pure. */
import type { Share } from "./queries/metrics";

export interface ShareRow {
  /** Where it stands in the report, such as `evaluators.pytest.wrong_passes`. */
  readonly name: string;
  readonly share: Share;
}

export function shareRows(report: unknown, place = ""): readonly ShareRow[] {
  if (typeof report !== "object" || report === null) return [];
  if (isShare(report)) return [{ name: place, share: report }];
  return Object.entries(report).flatMap(([key, value]) => {
    const name = nameOf(value) ?? key;
    return shareRows(value, place ? `${place}.${name}` : name);
  });
}

function isShare(value: object): value is Share {
  return "count" in value && "of" in value && "value" in value && "low" in value;
}

/** Members of lists go by what they are about. */
function nameOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  const { evaluator, phase, start } = value as Record<string, unknown>;
  return ([evaluator, phase, start].find((each) => typeof each === "string") as string | undefined) ?? null;
}

/** Comma-separated, after RFC 4180. No cell begins a formula. */
export function asCsv(rows: readonly ShareRow[]): string {
  const lines = rows.map(({ name, share: { count, of, value, low, high } }) =>
    [name, count, of, value, low, high].map(cell).join(","),
  );
  return ["share,count,of,value,low,high", ...lines].join("\r\n") + "\r\n";
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
