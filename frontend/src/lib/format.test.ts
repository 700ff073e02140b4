import { expect, it, vi } from "vitest";

import { formatClock, formatCount, formatMoment, isSameDay } from "./format";

const MIDNIGHT = "2026-01-02T00:05:06";

it("calls the hour after midnight 00", () => {
  expect(formatClock(MIDNIGHT)).toMatch(/^0?0:05:06$/);
  expect(formatMoment(MIDNIGHT)).toContain("00:05:06");
});

it("tells days apart in the reader's time zone", () => {
  expect(isSameDay(MIDNIGHT, "2026-01-02T23:59:59")).toBe(true);
  expect(isSameDay(MIDNIGHT, "2026-01-01T23:59:59")).toBe(false);
  expect(isSameDay(MIDNIGHT, "2026-02-02T00:05:06")).toBe(false);
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
