/** Queries and commands of sprints. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type Run = Schemas["RunView"];
export type RunDetail = Schemas["RunDetail"];
export type RunUsage = Schemas["RunUsage"];
export type Attempt = Schemas["AttemptView"];
export type AttemptDetail = Schemas["AttemptDetail"];
export type Evaluation = Schemas["EvaluationView"];
export type RunStatus = Schemas["RunStatus"];
export type Phase = Schemas["Phase"];
export type SprintCreate = Schemas["SprintCreate"];

export interface RunFilters {
  readonly status?: readonly RunStatus[] | undefined;
  readonly kind?: Schemas["RunKind"][] | undefined;
  readonly needs_human?: boolean | undefined;
  readonly paused?: boolean | undefined;
  readonly q?: string | undefined;
  readonly sort?: Schemas["RunSort"] | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly project?: string[] | undefined;
  readonly agent?: string[] | undefined;
  readonly metric?: Schemas["MetricName"] | undefined;
  readonly metric_part?: "counted" | "considered" | undefined;
  readonly metric_phase?: string | undefined;
  readonly metric_key?: string | undefined;
}

/** Runs that are asked for at once: first, and then for those who read on. */
const FIRST_PAGE = 50;
const PAGE = 200;

export const runsQuery = (filters: RunFilters) =>
  infiniteQueryOptions({
    queryKey: keys.runList(filters),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/runs", {
          params: {
            query: {
              ...filters,
              status: [...(filters.status ?? [])],
              limit: pageParam ? PAGE : FIRST_PAGE,
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
  });

/** What a run's requests to models consumed, in parts, and its budgets. */
export const runUsageQuery = (id: string) =>
  queryOptions({
    queryKey: keys.usage(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}/usage", { params: { path: { run_id: id } }, signal })),
  });

/** When an attempt asked models; while it goes on, read anew now and then. */
export const modelRequestsQuery = (id: string, phase: string, number: number, isOver: boolean) =>
  queryOptions({
    queryKey: ["model-requests", id, phase, number, isOver],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/runs/{run_id}/attempts/{phase}/{number}/model-requests", {
          params: { path: { run_id: id, phase: phase as Phase, number } },
          signal,
        }),
      ),
    staleTime: isOver ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: isOver ? false : 10_000,
  });

/** How many runs there are, by status and by kind. */
export const runCountsQuery = (filters: Omit<RunFilters, "sort">) =>
  queryOptions({
    queryKey: keys.runCounts(filters),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/runs/counts", {
          params: { query: { ...filters, status: [...(filters.status ?? [])] } },
          signal,
        }),
      ),
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: keys.run(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: id } }, signal })),
  });

export const attemptQuery = (id: string, phase: string, number: number) =>
  queryOptions({
    queryKey: keys.attempt(id, phase, number),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/runs/{run_id}/attempts/{phase}/{number}", {
          params: { path: { run_id: id, phase: phase as Phase, number } },
          signal,
        }),
      ),
  });

/** `key` makes a repetition of the same request safe. */
export const startSprint = (body: SprintCreate, key: string): Promise<RunDetail> =>
  unwrap(api.POST("/api/v1/sprints", { body, params: { header: { "idempotency-key": key } } }));

export const pauseRun = (id: string, reason: string): Promise<RunDetail> =>
  unwrap(api.POST("/api/v1/runs/{run_id}/pause", { params: { path: { run_id: id } }, body: { reason } }));

export const resumeRun = (id: string): Promise<RunDetail> =>
  unwrap(api.POST("/api/v1/runs/{run_id}/resume", { params: { path: { run_id: id } } }));

export type RunFork = Schemas["RunFork"];

/** A new sprint that begins with what an attempt left. `key` makes a repetition of the same request safe. */
export const forkRun = (id: string, body: RunFork, key: string): Promise<RunDetail> =>
  unwrap(
    api.POST("/api/v1/runs/{run_id}/fork", {
      params: { path: { run_id: id }, header: { "idempotency-key": key } },
      body,
    }),
  );

export const cancelRun = (id: string, reason: string): Promise<RunDetail> =>
  unwrap(
    api.POST("/api/v1/runs/{run_id}/cancel", {
      params: { path: { run_id: id } },
      body: { reason },
    }),
  );
