import { describe, expect, test } from "vitest";

import { beginningOf } from "./beginning";

const lines = (count: number, width = 1) =>
  Array.from({ length: count }, (_, index) => String(index % 10).repeat(width)).join("\n");

describe("beginningOf", () => {
  test.each([
    ["an empty text", ""],
    ["a short text", lines(3)],
    ["a text whose rest is not worth a button", lines(26)],
  ])("leaves %s whole", (_, text) => {
    expect(beginningOf(text)).toBeNull();
  });

  test("ends a long text after twenty whole lines", () => {
    expect(beginningOf(lines(27))).toBe(lines(20));
  });

  test("ends sooner where fewer lines are wanted", () => {
    expect(beginningOf(lines(14), 8)).toBeNull();
    expect(beginningOf(lines(15), 8)).toBe(lines(8));
  });

  test("ends a text of wide lines before the line that does not fit", () => {
    expect(beginningOf(lines(10, 999))).toBe(lines(4, 999));
  });

  test("cuts a single line that is too long", () => {
    expect(beginningOf("x".repeat(100_000))).toBe("x".repeat(4_000));
  });
});
