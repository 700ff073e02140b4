/** What a run made for its source: changed files, a merge that is tried, a branch, files to download. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type ResultFiles = Schemas["ResultFiles"];
export type ResultCheck = Schemas["ResultCheckView"];
export type MergeCheck = Schemas["MergeView"];

const FRESH = 30_000;

export const resultQuery = (id: string) =>
  queryOptions({
    queryKey: keys.result(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}/result", { params: { path: { run_id: id } }, signal })),
  });

export const resultFilesQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.result(id), "files"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}/result/files", { params: { path: { run_id: id } }, signal })),
  });

/** Compares with the source as it is when asked. */
export const mergeQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.result(id), "merge"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}/result/merge", { params: { path: { run_id: id } }, signal })),
    staleTime: FRESH,
    retry: false,
  });

export const recheckQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.result(id), "recheck"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}/result/recheck", { params: { path: { run_id: id } }, signal })),
  });

export const recheck = (id: string): Promise<Schemas["ResultCheckView"]> =>
  unwrap(api.POST("/api/v1/runs/{run_id}/result/recheck", { params: { path: { run_id: id } } }));

export const createBranch = (id: string, branch: string): Promise<Schemas["BranchView"]> =>
  unwrap(
    api.POST("/api/v1/runs/{run_id}/result/branch", {
      params: { path: { run_id: id } },
      body: branch ? { branch } : {},
    }),
  );
