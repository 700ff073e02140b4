/** What an agent at work has changed so far; read anew every few seconds while it is shown. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type UnfinishedDiff = Schemas["UnfinishedDiff"];

const PERIOD_MS = 3_000;

export const unfinishedQuery = (id: string, phase: string, number: number, candidate: number) =>
  queryOptions({
    // Not below the run's key: its events would have it read again with each of them.
    queryKey: ["unfinished", ...keys.diff(id, phase, number, "start"), candidate],
    queryFn: ({ signal }) =>
      unwrap<UnfinishedDiff>(
        api.GET("/api/v1/runs/{run_id}/attempts/{phase}/{number}/diff/unfinished", {
          params: {
            path: { run_id: id, phase: phase as Schemas["PhaseOfRun"], number },
            query: { candidate },
          },
          signal,
        }),
      ),
    refetchInterval: PERIOD_MS,
    retry: false,
    gcTime: 0,
  });
