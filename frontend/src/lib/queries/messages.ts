/** What people say to the agent of a run. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type Message = Schemas["MessageView"];
export type MessageCreate = Schemas["MessageCreate"];

/** Oldest first. */
export const messagesQuery = (id: string) =>
  queryOptions({
    queryKey: keys.messages(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/runs/{run_id}/messages", { params: { path: { run_id: id } }, signal })),
  });

/** `key` makes a repetition of the same request safe. */
export const sendMessage = (id: string, body: MessageCreate, key: string): Promise<Message> =>
  unwrap(
    api.POST("/api/v1/runs/{run_id}/messages", {
      params: { path: { run_id: id }, header: { "idempotency-key": key } },
      body,
    }),
  );
