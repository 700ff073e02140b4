import { expect, it } from "vitest";

import type { MetricShare } from "./queries/metrics";
import { rollingShares, wilson } from "./rolling";

const share = (count: number, of: number): MetricShare => ({
  count,
  of,
  ...wilson(count, of),
  counted: `c${count}`,
  considered: "",
});

it("adds up the cases of the window", () => {
  const rolled = rollingShares([share(1, 2), share(0, 0), share(3, 4), share(1, 1)], 3);
  expect(rolled.map((each) => [each.count, each.of])).toEqual([
    [1, 2],
    [1, 2],
    [4, 6],
    [4, 5],
  ]);
  expect(rolled[2]?.counted).toBe("c3");
});

it.each([
  [0, 0, null, null],
  [9, 11, 0.523, 0.949],
  [0, 10, 0, 0.278],
  [10, 10, 0.722, 1],
])("%d of %d lies from %j to %j", (count, of, low, high) => {
  const found = wilson(count, of);
  if (low === null || high === null) expect(found.value).toBeNull();
  else {
    expect(found.low).toBeCloseTo(low, 3);
    expect(found.high).toBeCloseTo(high, 3);
  }
});
