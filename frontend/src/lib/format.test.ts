import { expect, it, vi } from "vitest";

import { formatClock, formatCount, formatMoment } from "./format";

const MIDNIGHT = "2026-01-02T00:05:06";

it("calls the hour after midnight 00", () => {
  expect(formatClock(MIDNIGHT)).toMatch(/^0?0:05:06$/);
  expect(formatMoment(MIDNIGHT)).toContain("00:05:06");
});

it("makes no format anew for each line: they are cleaned up all at once, which stops the page", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat");
  const locale = vi.spyOn(Date.prototype, "toLocaleTimeString");
  const whole = vi.spyOn(Date.prototype, "toLocaleString");
  for (let at = 0; at < 10; at += 1) {
    formatClock(at);
    formatMoment(at);
  }
  expect([made, locale, whole].flatMap((each) => each.mock.calls)).toEqual([]);
  expect(formatCount(1234)).toBe("1,234");
});
