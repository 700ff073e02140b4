/** A patch as lines with their look, for what changes while it is read. Pure. */
import { visible } from "@/lib/text/visible";

export interface PlainLine {
  readonly kind: "added" | "removed" | "place" | "same";
  readonly text: string;
}

// Only \n ends a line of a patch. With the flag m, `^` would also match after \r, U+2028 and U+2029.
const FIRST_HUNK = /(?:^|(?<=\n))@@ /;
const KINDS: Readonly<Record<string, PlainLine["kind"]>> = { "+": "added", "-": "removed", "@": "place" };
const MOST_CHARS = 500;

/** The lines of a patch from its first hunk on. Long lines are cut, and end with `…`. */
export function plainLines(patch: string): readonly PlainLine[] {
  const start = patch.search(FIRST_HUNK);
  if (start < 0) return [];
  const lines = patch.slice(start).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => {
    const text = visible(line.slice(0, MOST_CHARS));
    return { kind: KINDS[line[0] ?? ""] ?? "same", text: line.length > MOST_CHARS ? `${text}…` : text };
  });
}
