/** The backlog: its board, and what changes it. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type Board = Schemas["BacklogBoard"];
export type BacklogItem = Schemas["BacklogItemView"];
export type BacklogProject = Schemas["BacklogProjectView"];
export type BoardColumn = Schemas["BoardColumn"];

/** Reasons change without an event, such as at midnight. */
const AGAIN_MS = 5_000;

export const boardQuery = (project: string | undefined) =>
  queryOptions({
    // Below the key of runs: what happens to a run puts the board out of date.
    queryKey: keys.backlog(project ?? ""),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/backlog", { params: { query: project ? { project } : {} }, signal })),
    refetchInterval: AGAIN_MS,
  });

export const changeProject = (body: Schemas["BacklogProjectChange"]) =>
  unwrap(api.PUT("/api/v1/backlog/projects", { body }));

export const removeItem = (id: string) =>
  unwrap(api.DELETE("/api/v1/backlog/{item_id}", { params: { path: { item_id: id } } }));
