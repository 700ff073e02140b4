import { expect, it } from "vitest";

import { placeText, withComment, withoutComment, withStart, withSuggestion } from "./comments";

const NEW = { path: "a.py", line: 5, side: "new" } as const;
const OLD = { path: "a.py", line: 5, side: "old" } as const;

it("keeps the two sides of a line apart", () => {
  const both = withComment(withComment(withComment([], NEW), OLD), NEW);
  expect(both).toHaveLength(2);
  expect(withoutComment(both, OLD).map((each) => each.side)).toEqual(["new"]);
});

it.each([
  [3, "a.py:3-5 (removed)"],
  [5, "a.py:5 (removed)"],
  [9, "a.py:5 (removed)"],
  [0, "a.py:5 (removed)"],
  [Number.NaN, "a.py:5 (removed)"],
  [2.5, "a.py:5 (removed)"],
])("a range from %j reads %j", (start, text) => {
  const [comment] = withStart(withComment([], OLD), OLD, start);
  expect(comment && placeText(comment)).toBe(text);
});

it("adds a suggestion below what is written", () => {
  expect(withSuggestion("", "x = 1")).toBe("```suggestion\nx = 1\n```");
  expect(withSuggestion("Shorter: ", "x = 1")).toBe("Shorter:\n```suggestion\nx = 1\n```");
});
