/** Very long lines of a diff are shown in part until someone asks for them. Pure. */
import type { ChangeData, HunkData, HunkTokens } from "react-diff-view";

import type { Side } from "./comments";
import { newLineOf, rowKey } from "./patch";

/** Characters of a line that are shown at once. */
export const LONGEST_LINE = 500;

/** `hunk` with its very long lines cut, but not those in `whole`, by their keys. */
export function clipped(hunk: HunkData, whole: ReadonlySet<string>): HunkData {
  const isLong = (change: ChangeData) => change.content.length > LONGEST_LINE && !whole.has(rowKey(change));
  if (!hunk.changes.some(isLong)) return hunk;
  const changes = hunk.changes.map((each) =>
    isLong(each) ? { ...each, content: `${each.content.slice(0, LONGEST_LINE)} …` } : each,
  );
  return { ...hunk, changes };
}

/** Colours are drawn instead of a line's text: a line that is cut has none. */
export function clippedTokens(tokens: HunkTokens, shown: HunkData, hunk: HunkData): HunkTokens {
  if (shown === hunk) return tokens;
  const cut = { old: [...tokens.old], new: [...tokens.new] };
  shown.changes.forEach((change, index) => {
    if (change === hunk.changes[index]) return;
    const plain = [{ type: "text", value: change.content }];
    const before = oldLineOf(change);
    const after = newLineOf(change);
    if (before !== null) cut.old[before - 1] = plain;
    if (after !== null) cut.new[after - 1] = plain;
  });
  return cut;
}

/** The text of some lines of one side, as far as they are in the hunk. */
export function textOf(hunk: HunkData, side: Side, first: number, last: number): string {
  const lineOf = side === "old" ? oldLineOf : newLineOf;
  return hunk.changes
    .filter((each) => {
      const line = lineOf(each);
      return line !== null && line >= first && line <= last;
    })
    .map((each) => each.content)
    .join("\n");
}

function oldLineOf(change: ChangeData): number | null {
  if (change.type === "insert") return null;
  return change.type === "delete" ? change.lineNumber : change.oldLineNumber;
}
