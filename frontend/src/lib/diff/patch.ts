/** Reads the patch of one file into rows. Names come from the API, never from the patch. Pure. */
import { type ChangeData, getChangeKey, type HunkData, parseDiff } from "react-diff-view";

import type { FileDiff } from "@/lib/queries/diffs";
import { visible } from "@/lib/text/visible";

import type { Place } from "./comments";

/** The parser misreads names with blanks or quotes; it gets a head of ours and the file's own hunks. */
const HEAD = "diff --git a/file b/file\n--- a/file\n+++ b/file\n";
// Only \n ends a line of a patch. With the flag m, `^` would also match after \r, U+2028 and U+2029.
const SECTION = /(?:^|(?<=\n))diff --git /;
const FIRST_HUNK = /(?:^|(?<=\n))@@ /;

const known = new WeakMap<FileDiff, readonly HunkData[]>();

/** The hunks of a file; read once, as several parts of a page ask. */
export function hunksOf(file: FileDiff): readonly HunkData[] {
  const before = known.get(file);
  if (before) return before;
  const hunks = parsePatch(file.patch);
  known.set(file, hunks);
  return hunks;
}

/** The hunks of a patch, with hidden characters made visible. A change of type has two patches in one. */
export function parsePatch(patch: string): readonly HunkData[] {
  return patch.split(SECTION).flatMap((section) => {
    const start = section.search(FIRST_HUNK);
    if (start < 0) return [];
    const hunks = parseDiff(HEAD + section.slice(start))[0]?.hunks ?? [];
    return hunks.map((hunk) =>
      Object.assign(hunk, { content: visible(hunk.content), changes: hunk.changes.map(shown) }),
    );
  });
}

/** Whether a file has as many added and removed rows as the service counted; a shortened one says so itself. */
export function hasAllRows(file: FileDiff): boolean {
  if (file.truncated || file.binary) return true;
  const changes = hunksOf(file).flatMap((hunk) => hunk.changes);
  const count = (type: ChangeData["type"]) => changes.filter((each) => each.type === type).length;
  return count("insert") === file.additions && count("delete") === file.deletions;
}

function shown(change: ChangeData): ChangeData {
  const text = change.content;
  const content = text.endsWith("\r") ? `${visible(text.slice(0, -1))}␍` : visible(text);
  return content === text ? change : { ...change, content };
}

/** Some rows of one hunk: what is put on the page at one time. */
export interface Block {
  /** Unique in its file. */
  readonly key: string;
  readonly hunk: HunkData;
  /** What the hunk is about; empty for its later blocks. */
  readonly heading: string;
}

export const BLOCK_ROWS = 60;

/** Cut hunks into blocks; where it can be, between changes, so that both sides of one stay beside each other. */
export function blocksOf(hunks: readonly HunkData[], rows = BLOCK_ROWS): readonly Block[] {
  return hunks.flatMap((hunk, index) => {
    const blocks: Block[] = [];
    let start = 0;
    while (start < hunk.changes.length) {
      const end = endOfBlock(hunk.changes, start, rows);
      const changes = hunk.changes.slice(start, end);
      blocks.push({
        key: `${index}.${start}`,
        hunk: { ...hunk, changes },
        heading: start === 0 ? hunk.content : "",
      });
      start = end;
    }
    return blocks;
  });
}

function endOfBlock(changes: readonly ChangeData[], start: number, rows: number): number {
  const wanted = start + rows;
  if (wanted >= changes.length) return changes.length;
  for (let at = wanted; at < Math.min(wanted + rows / 2, changes.length); at += 1) {
    if (changes[at]?.type === "normal") return at;
  }
  return wanted;
}

/** The number of a row's line in the file as the attempt left it; null for a removed line. */
export function newLineOf(change: ChangeData): number | null {
  if (change.type === "delete") return null;
  return change.type === "insert" ? change.lineNumber : change.newLineNumber;
}

/** Where remarks on a row belong: a removed line is only in the old file. */
export function placeOf(path: string, change: ChangeData): Place {
  const line = newLineOf(change);
  if (line !== null) return { path, line, side: "new" };
  return { path, line: change.type === "delete" ? change.lineNumber : 1, side: "old" };
}

export const rowKey = getChangeKey;

/** How a row is read out. */
export function describeRow(change: ChangeData): string {
  if (change.type === "delete") return `removed line ${change.lineNumber}: ${change.content}`;
  return `${change.type === "insert" ? "added line" : "line"} ${newLineOf(change)}: ${change.content}`;
}
