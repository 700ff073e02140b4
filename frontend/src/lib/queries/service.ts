/** Queries about the service itself. */
import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export const infoQuery = queryOptions({
  queryKey: keys.info,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/info", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const agentsQuery = queryOptions({
  queryKey: keys.agents,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/agents", { signal })),
  staleTime: 30_000,
});

export const evaluatorsQuery = queryOptions({
  queryKey: keys.evaluators,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/evaluators", { signal })),
  staleTime: 60_000,
});
