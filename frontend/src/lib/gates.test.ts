import { expect, test } from "vitest";

import { partOf } from "./gates";

test.each([
  [{ gate: true, observed: false }, "gate"],
  [{ gate: false, observed: true }, "observed gate"],
  [{ gate: false, observed: false }, "adviser"],
  [{ gate: true }, "gate"],
] as const)("%j is a %s", (verdict, part) => {
  expect(partOf(verdict)).toBe(part);
});
