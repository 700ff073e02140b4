/** The page's event stream for components. */
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";

import { keys } from "@/lib/queries/keys";
import { useStore } from "@/lib/store";
import type { Live } from "@/lib/stream/live";
import type { Connection } from "@/lib/stream/stream";
import { NO_EVENTS, type RunEvents } from "@/lib/stream/tail";

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("there is no event stream around this component");
  return live;
}

export function useConnection(): Connection {
  return useStore(useLive().stream.connection);
}

/** The latest events of a run, growing while it goes on; `head` is the last one when the page learnt of the run. */
export function useRunEvents(runId: string, head: number): RunEvents {
  const live = useLive();
  // What comes later comes over the connection.
  // oxlint-disable-next-line react/exhaustive-deps react/exhaustive-effect-dependencies
  useEffect(() => live.followRun(runId, head), [live, runId]);
  const { data } = useQuery<RunEvents>({
    queryKey: keys.runEvents(runId),
    queryFn: () => NO_EVENTS,
    initialData: NO_EVENTS,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}
