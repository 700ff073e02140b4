/** New lines that no test ran, as the test gate says. Pure. */
import type { Evaluation } from "../queries/runs";

/** The first and the last line, in the new file. */
export type Span = readonly [number, number];

const NONE: readonly Span[] = [];

/** By path, the lines that ran in no test of an attempt. Paths and numbers are checked: the service passes them on. */
export function unrunOf(evaluations: readonly Evaluation[]): ReadonlyMap<string, readonly Span[]> {
  const found = new Map<string, readonly Span[]>();
  for (const { metadata } of evaluations) {
    for (const [path, spans] of Object.entries(linesIn(metadata["new_code"]))) {
      const usable = Array.isArray(spans) ? spans.filter(isSpan) : NONE;
      if (usable.length > 0) found.set(path, usable);
    }
  }
  return found;
}

function linesIn(code: unknown): object {
  if (typeof code !== "object" || code === null || !("unrun_lines" in code)) return {};
  const lines = code.unrun_lines;
  return typeof lines === "object" && lines !== null ? lines : {};
}

function isSpan(value: unknown): value is Span {
  return Array.isArray(value) && value.length === 2 && value.every((each) => Number.isInteger(each));
}

export function isUnrun(spans: readonly Span[], line: number | null): boolean {
  return line !== null && spans.some(([first, last]) => first <= line && line <= last);
}

/** Such as `No test ran lines 4-8, 13`. */
export function unrunText(spans: readonly Span[]): string {
  const [only] = spans;
  const isOne = spans.length === 1 && only !== undefined && only[0] === only[1];
  const listed = spans.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return `No test ran line${isOne ? "" : "s"} ${listed.join(", ")}`;
}
