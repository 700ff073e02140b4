/** Which lines of a log are shown while sections of it are folded. Pure. */
import type { LogLine } from "./log";
import type { RunEvent } from "./stream/frames";

/** A section begins with the line that opens it, which stays. `turned` are exceptions from what holds for all. */
export interface Folding {
  readonly attempts: boolean;
  readonly tools: boolean;
  readonly turned: ReadonlySet<string>;
}

export const UNFOLDED: Folding = { attempts: false, tools: false, turned: new Set() };

export function isFolded(line: LogLine, folding: Folding): boolean {
  if (!line.opens) return false;
  const all = line.opens === "attempt" ? folding.attempts : folding.tools;
  return all !== folding.turned.has(line.id);
}

/** Folds every section of a kind, or none. */
export function foldAll(folding: Folding, kind: "attempts" | "tools"): Folding {
  return { ...folding, [kind]: !folding[kind], turned: new Set() };
}

/** Turns one section. */
export function turn(folding: Folding, id: string): Folding {
  const turned = new Set(folding.turned);
  if (!turned.delete(id)) turned.add(id);
  return { ...folding, turned };
}

/** Indices of the lines that are shown; null for all of them. */
export function shownLines(lines: readonly LogLine[], folding: Folding): readonly number[] | null {
  if (isUnfolded(folding)) return null;
  const shown: number[] = [];
  // What began before the lines that are in memory is folded with the rest.
  let inAttempt = folding.attempts;
  let inTool = false;
  for (const [index, line] of lines.entries()) {
    if (line.opens === "attempt") {
      inAttempt = isFolded(line, folding);
      inTool = false;
      shown.push(index);
    } else if (!inAttempt || line.attempt === null) {
      // What belongs to no attempt, such as a baseline, may come in the middle of one.
      if (isOutsideTools(line)) inTool = false;
      if (line.opens === "tool") inTool = isFolded(line, folding);
      if (line.opens === "tool" || !inTool) shown.push(index);
    }
  }
  return shown;
}

const isUnfolded = ({ attempts, tools, turned }: Folding) => !attempts && !tools && turned.size === 0;
const isOutsideTools = (line: LogLine) => line.kind !== "call" && line.kind !== "result";

/**
 * The line that opens the next (`by` 1) or the previous (-1) section that is shown, from the line `from` on.
 *
 * @param mayStay the section at `from` counts too.
 */
export function nextSection(
  lines: readonly LogLine[],
  shown: readonly number[] | null,
  from: string,
  by: 1 | -1,
  mayStay: boolean,
): string {
  const places = shown ?? lines.map((_, index) => index);
  const here = lines.findIndex((each) => each.id === from);
  const isBehind = (index: number) => (index - here) * by > 0 || (mayStay && index === here);
  const isSection = (index: number) => isBehind(index) && lines[index]?.opens !== undefined;
  const found = by === 1 ? places.find(isSection) : places.findLast(isSection);
  return found === undefined ? "" : (lines[found]?.id ?? "");
}

/** The line with which an attempt begins; empty as long as it has not. */
export function lineOfAttempt(
  milestones: readonly RunEvent[],
  attempt: number | undefined,
  phase: string | undefined,
): string {
  if (attempt === undefined) return "";
  const begun = milestones.find(
    (each) =>
      each.event === "attempt.started" && each.attempt === attempt && (!phase || each.phase === phase),
  );
  return begun ? `${begun.sequence}.0` : "";
}
