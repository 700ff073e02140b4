import { describe, expect, it } from "vitest";

import { plainLines } from "./plain";

const HEAD = "diff --git a/x b/x\n--- a/x\n+++ b/x\n";

describe("plainLines", () => {
  it("says what each line is", () => {
    expect(plainLines(`${HEAD}@@ -1,2 +1,2 @@\n same\n-old\n+new\n`)).toEqual([
      { kind: "place", text: "@@ -1,2 +1,2 @@" },
      { kind: "same", text: " same" },
      { kind: "removed", text: "-old" },
      { kind: "added", text: "+new" },
    ]);
  });

  it("shows hidden characters, and cuts long lines", () => {
    const [, hidden, long] = plainLines(`${HEAD}@@ -0,0 +1,2 @@\n+a\u202Eb\n+${"x".repeat(600)}\n`);
    expect(hidden?.text).toBe("+a⟦U+202E⟧b");
    expect(long?.text).toMatch(/^\+x{499}…$/);
  });

  it.each(["\r", "\u2028", "\u2029"])("takes %j for no end of a line", (end) => {
    const name = `diff --git a/x${end}@@ b/x\n--- a/x${end}@@ \n+++ b/x${end}@@ \n`;
    expect(plainLines(`${name}@@ -0,0 +1 @@\n+a\n`).map((each) => each.kind)).toEqual(["place", "added"]);
  });

  it("keeps what stands behind an escape", () => {
    const [, line] = plainLines(`${HEAD}@@ -0,0 +1 @@\n+x\u001B]evil()\n`);
    expect(line?.text).toBe("+x⟦U+001B⟧]evil()");
  });

  it("has no lines where there is no hunk", () => {
    expect(plainLines("diff --git a/x b/x\nBinary files differ\n")).toEqual([]);
  });
});
