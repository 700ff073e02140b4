/** Shares in words: no data is never 0 %. Pure. */
import { formatCount, formatDuration } from "./format";
import type { Latency, Share } from "./queries/metrics";
import { parseRunsSearch, type RunsSearch } from "./search";

export const NO_DATA = "no data";

/** `82 %`; shares near an end keep a digit, so that 1 of 400 does not look like none, and 399 not like all. */
export function formatShare(value: number | null): string {
  if (value === null) return NO_DATA;
  const percent = value * 100;
  if (percent > 0 && percent < LEAST) return `< ${LEAST} %`;
  if (percent > 100 - LEAST && percent < 100) return `> ${100 - LEAST} %`;
  const isNearEnd = (percent > 0 && percent < 1) || (percent > 99 && percent < 100);
  return `${percent.toFixed(isNearEnd ? 1 : 0)} %`;
}

/** In percent: less than this, or as close to all, is said in words. */
const LEAST = 0.1;

/** `68 % to 91 %`: the 95 % interval. */
export function formatInterval(share: Share): string {
  return share.low === null || share.high === null
    ? NO_DATA
    : `${formatShare(share.low)} to ${formatShare(share.high)}`;
}

/** `9 of 11`. */
export function formatCases(share: Share): string {
  return `${formatCount(share.count)} of ${formatCount(share.of)}`;
}

export function formatLatency(milliseconds: number | null): string {
  return milliseconds === null ? NO_DATA : formatDuration(milliseconds);
}

export function describeLatency(latency: Latency): string {
  return latency.n === 0 ? NO_DATA : `${formatLatency(latency.p50_ms)} / ${formatLatency(latency.p95_ms)}`;
}

/** The query of the API that lists a number's runs, as the search part of the page of runs. */
export function runsBehind(query: string): RunsSearch {
  const given = new URLSearchParams(query);
  const found: Record<string, unknown> = {};
  for (const name of new Set(given.keys())) {
    found[name] = MANY.has(name) ? given.getAll(name) : given.get(name);
  }
  return parseRunsSearch(found);
}

const MANY = new Set(["status", "kind", "project", "agent"]);
