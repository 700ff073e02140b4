/** The query and the command of director-evaluator loops. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type LoopDetail = Schemas["LoopDetail"];
export type Iteration = Schemas["IterationView"];

export const loopQuery = (id: string) =>
  queryOptions({
    queryKey: keys.loop(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/loops/{loop_id}", { params: { path: { loop_id: id } }, signal })),
  });

export type LoopCreate = Schemas["LoopCreate"];

/** `key` makes a repetition of the same request safe. */
export const startLoop = (body: LoopCreate, key: string): Promise<LoopDetail> =>
  unwrap(api.POST("/api/v1/loops", { body, params: { header: { "idempotency-key": key } } }));
