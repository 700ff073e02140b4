/** Tests that may fail at the base of a repository: list and remove them. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type KnownFailure = Schemas["KnownFailureView"];

export const knownFailuresQuery = (project: string | undefined) =>
  queryOptions({
    queryKey: keys.knownFailures(project ?? ""),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/known-failures", { params: { query: project ? { project } : {} }, signal })),
  });

export const removeKnownFailure = ({ project, test }: Pick<KnownFailure, "project" | "test">) =>
  unwrap(api.DELETE("/api/v1/known-failures", { params: { query: { project, test: [test] } } }));
