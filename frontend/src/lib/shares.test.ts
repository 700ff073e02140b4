import { describe, expect, it } from "vitest";

import type { Share } from "./queries/metrics";
import { describeLatency, formatInterval, formatShare, runsBehind } from "./shares";
import { pieces, places } from "./trend";

const share = (value: number | null, low = value, high = value): Share => ({
  count: 0,
  of: 0,
  value,
  low,
  high,
});

describe("shares in words", () => {
  it.each([
    [null, "no data"],
    [0, "0 %"],
    [0.0025, "0.3 %"],
    [0.0004, "< 0.1 %"],
    [0.9996, "> 99.9 %"],
    [0.5, "50 %"],
    [0.996, "99.6 %"],
    [1, "100 %"],
  ])("%s is %s", (value, words) => expect(formatShare(value)).toBe(words));

  it("gives the interval, or says that there is none", () => {
    expect(formatInterval(share(0.5, 0.25, 0.75))).toBe("25 % to 75 %");
    expect(formatInterval(share(null))).toBe("no data");
  });

  it("never makes a time of nothing", () => {
    expect(describeLatency({ n: 0, p50_ms: null, p95_ms: null })).toBe("no data");
    expect(describeLatency({ n: 2, p50_ms: 0, p95_ms: 61_000 })).toBe("0 ms / 1 min 1 s");
  });
});

describe("the runs behind a number", () => {
  it("asks the list for what the API names", () => {
    const query =
      "metric=pass_at_1&metric_part=considered&metric_phase=coding&since=2026-05-01T00%3A00%3A00%2B00%3A00&project=%2Fa+%26+b&project=%2Fc";
    expect(runsBehind(query)).toEqual({
      metric: "pass_at_1",
      metric_part: "considered",
      metric_phase: "coding",
      since: "2026-05-01T00:00:00+00:00",
      project: ["/a & b", "/c"],
    });
  });

  it("drops what the list does not know", () => expect(runsBehind("metric=luck&x=1")).toEqual({}));
});

describe("a trend", () => {
  it("has gaps where nothing was measured", () => {
    const found = places([share(0), share(null), share(1), share(0.5)], 300, 100);
    expect(found.map((each) => each && [each.x, each.y])).toEqual([[0, 100], null, [200, 0], [300, 50]]);
    expect(pieces(found).map((piece) => piece.length)).toEqual([1, 2]);
  });

  it("puts a single point into the middle", () => expect(places([share(1)], 300, 100)[0]?.x).toBe(150));
});
