/** What attempts changed, and the marks on what was said of it. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type AttemptDiff = Schemas["AttemptDiff"];
export type FileDiff = Schemas["FileDiff"];
export type Against = Schemas["Against"];
export type Mark = Schemas["MarkView"];

export interface DiffOf {
  readonly id: string;
  readonly phase: string;
  readonly number: number;
  readonly against: Against;
  /** Its index; the chosen one without it. */
  readonly candidate?: number | undefined;
}

const keyOf = (of: DiffOf) => [
  ...keys.diff(of.id, of.phase, of.number, of.against),
  of.candidate ?? "chosen",
];

/** All changed files; large ones are cut. What an attempt left never changes. */
export const attemptDiffQuery = (of: DiffOf) =>
  queryOptions({
    queryKey: keyOf(of),
    queryFn: ({ signal }) => fetchDiff(of, [], signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** One file, whole, with so many unchanged lines around each change. */
export const wholeFileQuery = (of: DiffOf, path: string, context: number) =>
  queryOptions({
    queryKey: [...keyOf(of), path, context],
    queryFn: async ({ signal }) => (await fetchDiff(of, [path], signal, context)).files[0] ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });

async function fetchDiff(
  of: DiffOf,
  paths: string[],
  signal: AbortSignal,
  context?: number,
): Promise<AttemptDiff> {
  const found = await unwrap(
    api.GET("/api/v1/runs/{run_id}/attempts/{phase}/{number}/diff", {
      params: {
        path: { run_id: of.id, phase: of.phase as Schemas["Phase"], number: of.number },
        query: {
          against: of.against,
          ...(of.candidate === undefined ? {} : { candidate: of.candidate }),
          ...(paths.length > 0 ? { path: paths } : {}),
          ...(context === undefined ? {} : { context }),
        },
      },
      signal,
    }),
  );
  return found as AttemptDiff;
}

export const markVerdict = (evaluationId: string, body: Schemas["MarkCreate"]): Promise<Mark> =>
  unwrap(
    api.POST("/api/v1/evaluations/{evaluation_id}/marks", {
      params: { path: { evaluation_id: evaluationId } },
      body,
    }),
  );
