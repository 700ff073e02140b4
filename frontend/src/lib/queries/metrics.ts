/** Queries of metrics and of evaluators, and the marks on their verdicts. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

export type Metrics = Schemas["MetricsReport"];
export type MetricShare = Schemas["MetricShare"];
export type Share = Schemas["Share"];
export type Latency = Schemas["Latency"];
export type Trend = Schemas["Trend"];
export type EvaluatorMetrics = Schemas["EvaluatorMetrics"];
export type Calibration = Schemas["KeptCalibration"];
export type CalibratedGate = Schemas["CalibratedGate"];
export type ObservedGate = Schemas["ObservedGate"];
export type WouldBlock = Schemas["WouldBlock"];
export type Verdict = Schemas["VerdictView"];

/** Which runs are measured. */
export interface MetricScope {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly kind?: readonly Schemas["RunKind"][] | undefined;
  readonly project?: readonly string[] | undefined;
  readonly agent?: readonly string[] | undefined;
}

export interface VerdictFilters {
  readonly status?: Schemas["EvaluationView"]["status"] | undefined;
  readonly mark?: "any" | "none" | "right" | "wrong_pass" | "wrong_fail" | undefined;
}

const FRESH = 30_000;

const listed = (scope: MetricScope) => ({
  ...(scope.since ? { since: scope.since } : {}),
  ...(scope.until ? { until: scope.until } : {}),
  kind: [...(scope.kind ?? [])],
  project: [...(scope.project ?? [])],
  agent: [...(scope.agent ?? [])],
});

export const metricsQuery = (scope: MetricScope) =>
  queryOptions({
    queryKey: ["metrics", "report", scope],
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/metrics", { params: { query: listed(scope) }, signal })),
    staleTime: FRESH,
  });

export const trendQuery = (scope: MetricScope, bucket: Schemas["Bucket"]) =>
  queryOptions({
    queryKey: ["metrics", "trend", bucket, scope],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/metrics/trend", { params: { query: { ...listed(scope), bucket } }, signal })),
    staleTime: FRESH,
  });

/** What observed gates would have blocked. */
export const observedQuery = (scope: MetricScope) =>
  queryOptions({
    queryKey: ["metrics", "observed", scope],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/metrics/observed", { params: { query: listed(scope) }, signal })),
    staleTime: FRESH,
  });

/** The last calibration on each corpus, the newest first. */
export const calibrationsQuery = queryOptions({
  queryKey: ["metrics", "calibrations"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/metrics/calibrations", { signal })),
  staleTime: FRESH,
});

export const facetsQuery = queryOptions({
  queryKey: ["runs", "facets"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/runs/facets", { params: { query: {} }, signal })),
  staleTime: FRESH,
});

export const evaluatorQuery = (name: string) =>
  queryOptions({
    queryKey: ["evaluators", "one", name],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/evaluators/{name}", { params: { path: { name } }, signal })),
  });

export const verdictsQuery = (name: string, filters: VerdictFilters) =>
  infiniteQueryOptions({
    queryKey: ["evaluators", "verdicts", name, filters],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/evaluators/{name}/verdicts", {
          params: {
            path: { name },
            query: {
              status: filters.status ? [filters.status] : [],
              ...(filters.mark ? { mark: filters.mark } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
  });

export const markVerdict = (id: string, wasRight: boolean, note: string): Promise<Schemas["MarkView"]> =>
  unwrap(
    api.POST("/api/v1/evaluations/{evaluation_id}/marks", {
      params: { path: { evaluation_id: id } },
      body: { was_right: wasRight, note },
    }),
  );

export const withdrawMark = (id: string, mark: string): Promise<undefined> =>
  unwrap(
    api.DELETE("/api/v1/evaluations/{evaluation_id}/marks/{mark_id}", {
      params: { path: { evaluation_id: id, mark_id: mark } },
    }),
  ) as Promise<undefined>;
