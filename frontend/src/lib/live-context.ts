/** The page's event stream for components. */
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";

import { keys } from "@/lib/queries/keys";
import { useStore } from "@/lib/store";
import { type Live, NO_EVENTS, type RunEvents } from "@/lib/stream/live";
import type { Connection } from "@/lib/stream/stream";

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("there is no event stream around this component");
  return live;
}

export function useConnection(): Connection {
  return useStore(useLive().stream.connection);
}

/** All events of a run, growing while it goes on. */
export function useRunEvents(runId: string): RunEvents {
  const live = useLive();
  useEffect(() => live.followRun(runId), [live, runId]);
  const { data } = useQuery<RunEvents>({
    queryKey: keys.runEvents(runId),
    queryFn: () => NO_EVENTS,
    initialData: NO_EVENTS,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}
