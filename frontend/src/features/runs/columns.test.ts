import { expect, it } from "vitest";

import { columnsOf, withColumn } from "./columns";

it.each([
  [undefined, 9],
  ["", 0],
  ["cost,kind", 2],
  ["cost,<b>,cost", 1],
  ["COST", 0],
])("%j shows %j columns", (text, count) => {
  expect(columnsOf(text).size).toBe(count);
});

it("names the columns that are left, and none when all are shown", () => {
  const without = withColumn(columnsOf(undefined), "agent", false);
  expect(without).not.toContain("agent");
  expect(withColumn(columnsOf(without), "agent", true)).toBeUndefined();
});
