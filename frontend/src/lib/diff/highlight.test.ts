import { expect, it } from "vitest";

import { tokensOf } from "./highlight";
import { languageOf } from "./languages";
import { parsePatch } from "./patch";

it.each([
  ["app/main.py", "python"],
  ["a/B.TSX", "tsx"],
  ["Makefile", null],
  ["strange.constructor", null],
  [".env", null],
])("%j is %j", (path, language) => {
  expect(languageOf(path)).toBe(language);
});

it("colours keywords and leaves the text as it is", () => {
  const hunks = parsePatch("@@ -1 +1 @@\n-return 1\n+return '<b>'\n");
  const tokens = tokensOf(hunks, "python");
  const told = JSON.stringify(tokens.new[0]);
  expect(told).toContain("keyword");
  expect(told).toContain("<b>");
});
