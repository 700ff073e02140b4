import { expect, it } from "vitest";

import type { Evaluation } from "../queries/runs";
import { isUnrun, unrunOf, unrunText } from "./unrun";

const judged = (new_code: unknown) => [{ metadata: { new_code } }] as unknown as readonly Evaluation[];

it("reads the lines of each file", () => {
  const found = unrunOf(
    judged({
      statements: 9,
      unrun: 3,
      unrun_lines: {
        "shop.py": [
          [4, 8],
          [13, 13],
        ],
      },
    }),
  );
  expect([...found]).toEqual([
    [
      "shop.py",
      [
        [4, 8],
        [13, 13],
      ],
    ],
  ]);
});

it.each([
  undefined,
  null,
  "lines",
  {},
  { unrun_lines: null },
  { unrun_lines: { "shop.py": 3 } },
  { unrun_lines: { "shop.py": [[1]] } },
  { unrun_lines: { "shop.py": [["1", "2"]] } },
])("takes nothing from %j", (code) => {
  expect(unrunOf(judged(code)).size).toBe(0);
});

it("knows the lines between the first and the last", () => {
  const spans = [
    [4, 5],
    [9, 9],
  ] as const;
  expect([3, 4, 5, 6, 9, 10].filter((line) => isUnrun(spans, line))).toEqual([4, 5, 9]);
  expect(isUnrun(spans, null)).toBe(false);
});

it("says which lines these are", () => {
  expect(unrunText([[4, 4]])).toBe("No test ran line 4");
  expect(
    unrunText([
      [4, 8],
      [13, 13],
    ]),
  ).toBe("No test ran lines 4-8, 13");
});
