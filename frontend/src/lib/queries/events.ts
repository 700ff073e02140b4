/** Pages of a run's events over HTTP. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import { api, type Schemas, unwrap } from "@/lib/api/client";
import type { RunEvent } from "@/lib/stream/frames";
import { firstOf, lastOf, type RunEvents } from "@/lib/stream/tail";

import { keys } from "./keys";

const PAGE = 1000;
/** Of chosen events, at most so many pages: an attempt with more tool calls shows its first ones. */
const MOST_PAGES = 3;

type EventPage = Schemas["EventPage"];
type Choice = Partial<Pick<RunEvent, "phase" | "attempt">> & { types: readonly RunEvent["event"][] };

/** Of an attempt at work these are few, and the page needs them however long ago they were. */
const MILESTONES: Choice = {
  types: ["attempt.started", "candidate.started", "judge.decided", "optimization.started"],
};
const PARTS: Choice["types"] = [
  "attempt.started",
  "candidate.started",
  "tool.called",
  "tool.result",
  "attempt.produced",
  "evaluator.completed",
];

export async function fetchEventPage(
  runId: string,
  after: number,
  limit: number = PAGE,
): Promise<readonly RunEvent[]> {
  return (await fetchPage(runId, { after, limit })).events;
}

async function fetchPage(runId: string, query: object): Promise<EventPage> {
  const page = await unwrap(
    api.GET("/api/v1/runs/{run_id}/events", { params: { path: { run_id: runId }, query } }),
  );
  // Text is what a client that asks for a stream gets.
  if (typeof page === "string") throw new TypeError("the service answered with a stream");
  return page;
}

interface Chosen {
  readonly events: readonly RunEvent[];
  /** Every chosen event up to here is among them. */
  readonly upTo: number;
}

async function fetchChosen(runId: string, choice: Choice): Promise<Chosen> {
  const events: RunEvent[] = [];
  let after = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { types, phase, attempt } = choice;
    const got = await fetchPage(runId, { after, limit: PAGE, types, phase, attempt });
    events.push(...got.events);
    after = got.next_after;
    if (got.events.length < PAGE) break;
  }
  return { events, upTo: after };
}

/** What says how a run went, however long ago, before its latest events. */
export function useMilestones(runId: string, tail: RunEvents): readonly RunEvent[] {
  return useChosen(runId, tail, MILESTONES);
}

/** What says what an attempt did when, before the run's latest events. */
export function usePartsOf(
  runId: string,
  tail: RunEvents,
  phase: string,
  attempt: number,
): readonly RunEvent[] {
  const choice = useMemo(() => ({ types: PARTS, phase: phase as "coding", attempt }), [phase, attempt]);
  return useChosen(runId, tail, choice);
}

/** Chosen events that are not in memory any more are fetched; those that are in memory follow them. */
function useChosen(runId: string, tail: RunEvents, choice: Choice): readonly RunEvent[] {
  const first = firstOf(tail);
  const isHere = lastOf(tail) >= tail.head;
  const { data, refetch } = useQuery({
    queryKey: [...keys.runEvents(runId), tail.era, choice],
    queryFn: () => fetchChosen(runId, choice),
    enabled: first > 1 && isHere,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isBehind = data !== undefined && data.events.length < MOST_PAGES * PAGE && first > data.upTo + 1;
  useEffect(() => {
    if (isBehind) void refetch();
  }, [isBehind, refetch]);
  return useMemo(
    () => [...(data?.events.filter((each) => each.sequence < first) ?? []), ...tail.events],
    [data, first, tail.events],
  );
}
