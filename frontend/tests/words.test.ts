/** The page keeps to the glossary: a word that it gave up for another one does not come back. */
import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const GIVEN_UP: Record<string, RegExp> = {
  "a person, people": /\bhumans?\b/i,
  "no one, anyone": /\b(?:nobody|whoever)\b/i,
  they: /\b(?:he|his|him)\b/i,
  "own, by itself": /\bof its own\b/i,
};

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
  (path) => /\.tsx?$/.test(path) && !path.endsWith("schema.d.ts"),
);

describe("the words of the page", () => {
  it("are read from its sources", () => {
    expect(sources.length).toBeGreaterThan(100);
  });

  it.each(Object.entries(GIVEN_UP))("say %s", (_, word) => {
    const found = sources.flatMap((path) =>
      readFileSync(`src/${path}`, "utf8")
        .split("\n")
        .filter((line) => word.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});
