import { describe, expect, it } from "vitest";

import { parseAnsi, plainText } from "./ansi";
import { visible } from "./visible";

describe("visible", () => {
  it.each([
    ["plain", "plain"],
    ["tab\tand\nline", "tab\tand\nline"],
    ["a\u202Eb", "a⟦U+202E⟧b"],
    ["\u2066x\u2069", "⟦U+2066⟧x⟦U+2069⟧"],
    ["zero\u200Bwidth", "zero⟦U+200B⟧width"],
    ["nul\u0000", "nul⟦U+0000⟧"],
    ["bell\u0007", "bell⟦U+0007⟧"],
    ["tag\u{E0041}", "tag⟦U+E0041⟧"],
    ["👩\u200D💻.md", "👩\u200D💻.md"],
    ["می\u200Cخواهم", "می\u200Cخواهم"],
    ["to\u200Dken.py", "to⟦U+200D⟧ken.py"],
    ["token\u200C.py", "token⟦U+200C⟧.py"],
    ["挨拶 🙂 שלום", "挨拶 🙂 שלום"],
  ])("%j becomes %j", (given, shown) => {
    expect(visible(given)).toBe(shown);
  });
});

describe("parseAnsi", () => {
  const seen = (line: string) =>
    parseAnsi(line).map((span) => [span.text, span.style.colour, span.style.bold]);

  it.each([
    ["no escape", [["no escape", null, false]]],
    [
      "\u001B[31mred\u001B[0m plain",
      [
        ["red", "failed", false],
        [" plain", null, false],
      ],
    ],
    ["\u001B[1;92mok", [["ok", "ansi-green", true]]],
    ["\u001B[mreset", [["reset", null, false]]],
    [
      "\u001B[38;5;196mx\u001B[31my",
      [
        ["x", null, false],
        ["y", "failed", false],
      ],
    ],
    ["\u001B[38;2;1;2;3;1mx", [["x", null, true]]],
    ["\u001B[2J\u001B[Hcleared", [["cleared", null, false]]],
    ["\u001B]8;;http://evil.example\u0007link\u001B]8;;\u0007", [["link", null, false]]],
    ["\u001B]0;title\u001B\\after", [["after", null, false]]],
    ["\u001B[31", [["31", null, false]]],
    ["windows\r", [["windows", null, false]]],
    [
      "<b>\u001B[31m<script>",
      [
        ["<b>", null, false],
        ["<script>", "failed", false],
      ],
    ],
    ["a\rb", [["a⟦U+000D⟧b", null, false]]],
  ])("%j", (line, spans) => {
    expect(seen(line)).toEqual(spans);
  });

  it("takes no line out with an escape of the line before", () => {
    expect(plainText("a\u001B]never ended\nb")).toBe("a\nb");
  });

  it("takes time in proportion to the line, however hostile", () => {
    const hostile = "\u001B[".repeat(50_000) + "\u001B]".repeat(50_000);
    expect(plainText(hostile).length).toBeLessThan(hostile.length * 9);
  });
});
