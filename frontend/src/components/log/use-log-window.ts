/** What is in memory of a run's log: its latest events while it follows, else those around its reader. */
import { useMemo, useRef, useState } from "react";

import { logOf, type LogLine } from "@/lib/log";
import { fetchEventPage } from "@/lib/queries/events";
import type { RunEvent } from "@/lib/stream/frames";
import type { RunEvents } from "@/lib/stream/tail";
import {
  holds,
  joined,
  pageSize,
  type Part,
  partOf,
  type Rest,
  restAt,
  withNewer,
  withOlder,
} from "@/lib/stream/window";

type Wanted = "older" | "newer" | "there";
type Take = (before: Rest, got: readonly RunEvent[]) => Rest;

export interface LogWindow extends Part {
  readonly lines: readonly LogLine[];
  readonly isPaused: boolean;
  /** What is being fetched. */
  readonly fetching: Wanted | null;
  readonly error: unknown;
  readonly pause: () => void;
  readonly follow: () => void;
  /** Fetch a page; the event at `reading` stays in memory. */
  readonly older: (reading: number) => void;
  readonly newer: (reading: number) => void;
  /** Have the event in memory, and stop following. */
  readonly goTo: (sequence: number) => void;
}

export function useLogWindow(runId: string, tail: RunEvents): LogWindow {
  const { held, change, follow } = useRest(tail);
  const page = usePages(runId);
  const part = partOf(held, tail);
  const lines = useMemo(() => logOf(part.events), [part.events]);
  function load(what: Wanted, after: (size: number) => number, take: Take): void {
    const size = pageSize(part.events);
    const got = (events: readonly RunEvent[]) => change((before) => take(before, events));
    page.load(what, { after: Math.max(0, after(size)), size }, got);
  }
  const pause = () => change((before) => before);

  return {
    ...part,
    lines,
    isPaused: held !== null,
    fetching: page.fetching,
    error: page.error,
    pause,
    follow() {
      page.stop();
      follow();
    },
    older(reading) {
      pause();
      load(
        "older",
        (size) => part.first - 1 - size,
        (before, got) => withOlder(before, got, reading),
      );
    },
    newer: (reading) =>
      load(
        "newer",
        () => part.last,
        (before, got) => withNewer(before, got, reading),
      ),
    goTo(sequence) {
      pause();
      if (holds(part.events, sequence)) return;
      load(
        "there",
        (size) => sequence - 1 - Math.floor(size / 2),
        (before, got) => ({ ...before, events: got }),
      );
    },
  };
}

/** What is held while the log does not follow; events that come later join it. */
function useRest(tail: RunEvents) {
  const [rest, setRest] = useState<Rest | null>(null);
  const [joinedWith, setJoinedWith] = useState(tail);
  if (joinedWith !== tail) {
    setJoinedWith(tail);
    if (rest) setRest(joined(rest, tail));
  }
  return {
    held: rest?.era === tail.era ? rest : null,
    change: (to: (before: Rest) => Rest) =>
      setRest((before) => to(before?.era === tail.era ? before : restAt(tail))),
    follow: () => setRest(null),
  };
}

/** Fetches one page at a time. A page around a line takes the place of what was asked for before it. */
function usePages(runId: string) {
  const [fetching, setFetching] = useState<Wanted | null>(null);
  const [error, setError] = useState<unknown>(null);
  const latest = useRef(0);

  function stop(): void {
    latest.current += 1;
    setFetching(null);
    setError(null);
  }

  function load(
    what: Wanted,
    where: { after: number; size: number },
    take: (got: readonly RunEvent[]) => void,
  ): void {
    if (fetching !== null && what !== "there") return;
    stop();
    const asked = latest.current;
    const ended = (end: () => void) => {
      if (latest.current !== asked) return;
      setFetching(null);
      end();
    };
    setFetching(what);
    fetchEventPage(runId, where.after, where.size).then(
      (got) => ended(() => take(got)),
      (failure: unknown) => ended(() => setError(failure)),
    );
  }

  return { fetching, error, load, stop };
}
