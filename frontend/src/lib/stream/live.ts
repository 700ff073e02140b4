/** Joins the event stream with the query cache: events are kept there, and say which answers are out of date. */
import type { Query, QueryClient } from "@tanstack/react-query";

import { fetchEventPage } from "@/lib/queries/events";
import { keys } from "@/lib/queries/keys";

import { createListSink, isDue } from "./lists";
import { connectSocket } from "./socket";
import { EventStream, type RunSink } from "./stream";
import { beginning, lastOf, NO_EVENTS, type RunEvents, taking } from "./tail";
import { throttle } from "./throttle";

/** They change nothing that REST answers tell. */
const ONLY_FOR_THE_LOG: ReadonlySet<string> = new Set(["agent.progress", "tool.called", "tool.result"]);
const REFETCH_MS = 250;
/** A list that was not due is looked at again after this. */
const LONG_LIST_MS = 5_000;

export interface Live {
  readonly stream: EventStream;
  /** Follow a run whose last event is `head`. */
  followRun: (runId: string, head: number) => () => void;
}

export function createLive(client: QueryClient): Live {
  const lists = createListSink(() => fetchLists(client));
  const stream = new EventStream({
    connect: connectSocket,
    fetchEvents: (runId, after) => fetchEventPage(runId, after),
    list: lists,
  });
  return {
    stream,
    followRun(runId, head) {
      const key = keys.runEvents(runId);
      client.setQueryData<RunEvents>(key, (before = NO_EVENTS) => beginning(before, head));
      return stream.follow(runId, runSink(client, runId));
    },
  };
}

let later: ReturnType<typeof setTimeout> | undefined;

/** Fetches what lists show; those that are not due yet come once they are. */
function fetchLists(client: QueryClient): void {
  const now = Date.now();
  const isLong = (query: Query) => !isDue(query.state, now);
  const waits = client.getQueryCache().findAll({ queryKey: keys.runs, type: "active", predicate: isLong });
  void client.invalidateQueries({ queryKey: keys.runs, predicate: (query) => !isLong(query) });
  void client.invalidateQueries({ queryKey: keys.escalations });
  if (waits.length === 0) return;
  clearTimeout(later);
  later = setTimeout(() => fetchLists(client), LONG_LIST_MS);
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
    cursor: () => lastOf(read()),
    take(taken) {
      write(taking(read(), taken));
      const seen = known();
      if (taken.some((each) => each.sequence > seen && !ONLY_FOR_THE_LOG.has(each.event))) refetch();
    },
    reset(after) {
      write({ events: [], head: after, after, heard: 0, era: read().era + 1 });
      refetch();
    },
    subscribed(head) {
      write({ ...read(), head: Math.max(head, read().head) });
      if (head > known()) refetch();
    },
    gone: refetch,
  };
}
