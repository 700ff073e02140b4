/** Joins the event stream with the query cache: events are kept there, and say which answers are out of date. */
import type { QueryClient } from "@tanstack/react-query";

import { fetchEventPage } from "@/lib/queries/events";
import { keys } from "@/lib/queries/keys";

import type { RunEvent } from "./frames";
import { throttle } from "./throttle";
import { EventStream, type RunSink } from "./stream";
import { connectSocket } from "./socket";

export interface RunEvents {
  readonly events: readonly RunEvent[];
  /** Events up to this sequence were announced; what lies between is on its way. */
  readonly head: number;
  readonly after: number;
}

export const NO_EVENTS: RunEvents = { events: [], head: 0, after: 0 };

/** They change nothing that REST answers tell. */
const ONLY_FOR_THE_LOG: ReadonlySet<string> = new Set(["agent.progress", "tool.called", "tool.result"]);
const REFETCH_MS = 250;

export interface Live {
  readonly stream: EventStream;
  followRun: (runId: string) => () => void;
}

export function createLive(client: QueryClient): Live {
  const refetchLists = throttle(REFETCH_MS, () => {
    void client.invalidateQueries({ queryKey: keys.runs });
    void client.invalidateQueries({ queryKey: keys.escalations });
  });
  const stream = new EventStream({
    connect: connectSocket,
    fetchEvents: (runId, after) => fetchEventPage(runId, after),
    list: { changed: refetchLists, resync: refetchLists },
  });
  return { stream, followRun: (runId) => stream.follow(runId, runSink(client, runId)) };
}

/** The latest event that the shown data of the run includes; each kind of run has its own query. */
function seenOf(client: QueryClient, runId: string): number {
  const shown = client.getQueryCache().findAll({ queryKey: keys.run(runId), type: "active" });
  const seen = shown.flatMap(
    (each) => (each.state.data as { last_sequence?: number } | undefined)?.last_sequence ?? [],
  );
  return seen.length === 0 ? 0 : Math.min(...seen);
}

function runSink(client: QueryClient, runId: string): RunSink {
  const key = keys.runEvents(runId);
  const read = () => client.getQueryData<RunEvents>(key) ?? NO_EVENTS;
  const write = (next: RunEvents) => client.setQueryData<RunEvents>(key, next);
  const refetch = throttle(REFETCH_MS, () => void client.invalidateQueries({ queryKey: keys.run(runId) }));
  const known = () => seenOf(client, runId);
  return {
    cursor: () => read().events.at(-1)?.sequence ?? read().after,
    take(taken) {
      const before = read();
      const last = taken.at(-1)?.sequence ?? 0;
      write({ ...before, events: [...before.events, ...taken], head: Math.max(before.head, last) });
      const seen = known();
      if (taken.some((each) => each.sequence > seen && !ONLY_FOR_THE_LOG.has(each.event))) refetch();
    },
    reset(after) {
      write({ events: [], head: after, after });
      refetch();
    },
    subscribed(head) {
      write({ ...read(), head: Math.max(head, read().head) });
      if (head > known()) refetch();
    },
    gone: refetch,
  };
}
