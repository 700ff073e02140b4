import { describe, expect, it } from "vitest";

import type { FileDiff } from "@/lib/queries/diffs";

import { blocksOf, describeRow, hasAllRows, newLineOf, parsePatch, rowKey } from "./patch";

const patch = (body: string, name = "a.py") =>
  `diff --git a/${name} b/${name}\nindex 1..2 100644\n--- a/${name}\n+++ b/${name}\n${body}`;
const rows = (text: string) => parsePatch(text).flatMap((hunk) => hunk.changes);

describe("parsePatch", () => {
  it.each([
    ["no patch", "", 0],
    [
      "a rename without changes",
      "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
      0,
    ],
    ["a binary file", "diff --git a/x b/x\nBinary files a/x and b/x differ\n", 0],
    ["a name with blanks", patch("@@ -1 +1 @@\n-a\n+b\n", "a b c"), 2],
    ["a quoted name", patch("@@ -1 +1 @@\n-a\n+b\n", '"we\\"ird'), 2],
    ["a name that imitates a hunk", patch("@@ -1 +1 @@\n-a\n+b\n", "@@ -1 +9 @@"), 2],
    ["a patch cut in the middle of a hunk", patch("@@ -1,9 +1,9 @@\n a\n-b\n"), 2],
    ["no newline at the end", patch("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"), 2],
  ])("%s", (_name, text, count) => {
    expect(rows(text)).toHaveLength(count);
  });

  it("takes lines that imitate the head of a file for lines", () => {
    const found = rows(
      patch(
        "@@ -1,3 +1,3 @@\n--- a/other\n-diff --git a/x b/x\n-@@ -1 +1 @@\n+++ b/other\n+Binary files differ\n+@@ -5 +5 @@\n",
      ),
    );
    expect(found.map((each) => each.content)).toEqual([
      "-- a/other",
      "diff --git a/x b/x",
      "@@ -1 +1 @@",
      "++ b/other",
      "Binary files differ",
      "@@ -5 +5 @@",
    ]);
  });

  it.each(["\r", "\u2028", "\u2029", "\u0085", "\v", "\f"])("takes %j for no end of a line", (end) => {
    const hostile = ["diff --git a/x b/x", "@@ -1 +1 @@", "Binary files differ", "--- a/x"];
    const added = hostile.map((each) => `+# note${end}${each}\n`).join("");
    const found = rows(
      patch(`@@ -0,0 +1,5 @@ def f${end}@@ -1 +1 @@\n${added}+last\n`, `a${end}@@ -1 +1 @@`),
    );
    expect(found.map(newLineOf)).toEqual([1, 2, 3, 4, 5]);
    expect(found[0]?.content).toMatch(/^# note⟦U\+[0-9A-F]{4}⟧diff --git a\/x b\/x$/);
    expect(found[4]?.content).toBe("last");
  });

  it("shows both halves of a change of type", () => {
    const text =
      "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+target\n";
    expect(rows(text).map(rowKey)).toEqual(["D1", "I1"]);
  });

  it.each([
    ["direction", "a\u202Eb", "a⟦U+202E⟧b"],
    ["escapes", "\u001B[31mred", "⟦U+001B⟧[31mred"],
    ["a line end of another system", "text\r", "text␍"],
    ["markup", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
  ])("shows %s as text", (_name, given, shown) => {
    expect(rows(patch(`@@ -0,0 +1 @@\n+${given}\n`))[0]?.content).toBe(shown);
  });
});

describe("hasAllRows", () => {
  const body = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n";
  const file = (more: Partial<FileDiff>) =>
    ({
      additions: 2,
      deletions: 1,
      patch: patch(body),
      truncated: false,
      binary: false,
      ...more,
    }) as FileDiff;

  it.each([
    ["all rows", {}, true],
    ["an added line too few", { additions: 3 }, false],
    ["a removed line too few", { deletions: 2 }, false],
    ["a removed line too many", { deletions: 0 }, false],
    ["no patch", { patch: "" }, false],
    ["a file that says that it is shortened", { additions: 3, truncated: true }, true],
    ["a binary file", { additions: 0, deletions: 0, patch: "", binary: true }, true],
  ])("%s", (_name, more, isWhole) => {
    expect(hasAllRows(file(more))).toBe(isWhole);
  });
});

it("counts lines as the attempt left them, and none for removed ones", () => {
  const found = rows(patch("@@ -5,3 +7,3 @@\n a\n-b\n+c\n d\n"));
  expect(found.map(newLineOf)).toEqual([7, null, 8, 9]);
  expect(found.map(describeRow)).toEqual(["line 7: a", "removed line 6: b", "added line 8: c", "line 9: d"]);
});

describe("blocksOf", () => {
  const long = (count: number) =>
    parsePatch(
      patch(`@@ -0,0 +1,${count} @@\n${Array.from({ length: count }, (_, at) => `+${at}\n`).join("")}`),
    );

  it.each([0, 1, 149, 150, 151, 6000])("loses and doubles none of %i rows", (count) => {
    const found = blocksOf(long(count)).flatMap((block) => block.hunk.changes.map((each) => each.content));
    expect(found).toEqual(Array.from({ length: count }, (_, at) => String(at)));
  });

  it("gives each block its own key, and each hunk one heading", () => {
    const hunks = [...long(400), ...long(10)];
    const blocks = blocksOf(hunks, 100);
    expect(new Set(blocks.map((each) => each.key)).size).toBe(blocks.length);
    expect(blocks.filter((each) => each.heading)).toHaveLength(2);
  });

  it("cuts between changes where it can", () => {
    const body = `@@ -1,12 +1,12 @@\n${" s\n".repeat(3)}-a\n-b\n+c\n+d\n${" s\n".repeat(5)}`;
    const [first] = blocksOf(parsePatch(patch(body)), 5);
    expect(first?.hunk.changes.at(-1)?.type).toBe("insert");
    expect(first?.hunk.changes).toHaveLength(7);
  });
});
