/** What evaluators found in lines of a diff. Pure. */
import type { Evaluation } from "../queries/runs";

export interface Finding {
  readonly evaluator: string;
  readonly gate: boolean;
  readonly path: string;
  /** The line in the new file. */
  readonly line: number;
  readonly text: string;
}

/** A path with a line, as tools write it: `app/main.py:12`, `app/main.py:12:5`. */
const PLACE =
  /(?<![\p{L}\p{M}\p{N}_/.@+-])((?:[\p{L}\p{M}\p{N}_.@+-]+\/)*[\p{L}\p{M}\p{N}_.@+-]+\.\w+):(\d{1,7})\b/gu;

/** The findings of verdicts that did not pass, by path; one that is said twice is given once. */
export function findingsOf(evaluations: readonly Evaluation[]): ReadonlyMap<string, readonly Finding[]> {
  const found = new Map<string, Finding[]>();
  const known = new Set<string>();
  for (const each of evaluations) {
    if (each.status !== "failed" && each.status !== "errored") continue;
    for (const text of [...each.suggestions, ...each.feedback.split("\n")]) {
      for (const { path, line } of placesIn(text)) {
        const key = `${each.evaluator}\n${path}\n${line}`;
        if (known.has(key)) continue;
        known.add(key);
        const finding = {
          evaluator: each.evaluator,
          gate: each.gate,
          path,
          line,
          text: text.replace(/^\s*[-*] /, "").trim(),
        };
        found.set(path, [...(found.get(path) ?? []), finding]);
      }
    }
  }
  return found;
}

function placesIn(text: string): readonly { path: string; line: number }[] {
  return [...text.matchAll(PLACE)].map(([, path = "", line = ""]) => ({ path, line: Number(line) }));
}

/** The id of the row of a file's findings in one line, for links. */
export function findingId(path: string, line: number): string {
  return `finding-${encodeURIComponent(path)}-${line}`;
}

/** Guidance with a finding added to it; once is enough. */
export function withFinding(guidance: string, { path, line, text }: Finding): string {
  const said = text.includes(`${path}:${line}`) ? text : `${path}:${line}: ${text}`;
  if (guidance.includes(said)) return guidance;
  return guidance.trim() === "" ? said : `${guidance.trimEnd()}\n${said}`;
}
