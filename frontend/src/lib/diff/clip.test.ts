import { expect, it } from "vitest";

import { clipped, clippedTokens, LONGEST_LINE, textOf } from "./clip";
import { parsePatch, rowKey } from "./patch";

const LONG = "x".repeat(LONGEST_LINE + 100);
const [HUNK] = parsePatch(`@@ -1,2 +1,3 @@\n same\n-was\n+${LONG}\n+is\n`);

it("cuts a very long line until it is asked for", () => {
  const hunk = HUNK!;
  const cut = clipped(hunk, new Set());
  expect(cut.changes.map((each) => each.content.length)).toEqual([4, 3, LONGEST_LINE + 2, 2]);
  expect(clipped(hunk, new Set([rowKey(hunk.changes[2]!)]))).toBe(hunk);
});

it("draws no colours over a line that is cut", () => {
  const hunk = HUNK!;
  const cut = clipped(hunk, new Set());
  const tokens = { old: [[{ type: "a" }], [{ type: "b" }]], new: [[{ type: "a" }], [{ type: "c" }]] };
  const drawn = clippedTokens(tokens, cut, hunk);
  expect(drawn.old).toEqual(tokens.old);
  expect(drawn.new[1]).toEqual([{ type: "text", value: cut.changes[2]!.content }]);
  expect(clippedTokens(tokens, hunk, hunk)).toBe(tokens);
});

it("gives the lines of one side", () => {
  expect(textOf(HUNK!, "old", 1, 2)).toBe("same\nwas");
  expect(textOf(HUNK!, "new", 3, 9)).toBe("is");
});
