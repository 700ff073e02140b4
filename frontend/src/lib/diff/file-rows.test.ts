import { expect, it } from "vitest";

import type { FileDiff } from "@/lib/queries/diffs";

import { fileRows } from "./file-rows";

const file = (path: string) => ({ path }) as FileDiff;
const FILES = ["app/a.py", "README.md", "app/b.py", "tests/Test_A.py"].map(file);

it.each([
  ["", ["app/", "a.py", "b.py", "README.md", "tests/", "Test_A.py"]],
  ["test", ["tests/", "Test_A.py"]],
  ["py app", ["app/", "a.py", "b.py"]],
  ["nothing", []],
  [".", ["app/", "a.py", "b.py", "README.md", "tests/", "Test_A.py"]],
])("%j finds %j", (words, names) => {
  expect(fileRows(FILES, words).map((each) => each.name)).toEqual(names);
});

it("remembers the place of a file among all", () => {
  const found = fileRows(FILES, "test").find((each) => each.kind === "file");
  expect(found).toMatchObject({ index: 3 });
});
