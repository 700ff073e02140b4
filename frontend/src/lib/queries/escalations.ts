/** Queries and the one command of escalations. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type Escalation = Schemas["EscalationView"];
export type EscalationDetail = Schemas["EscalationDetail"];
export type Resolution = Schemas["EscalationResolve"];
export type EscalationStatus = "open" | "resolved" | "withdrawn";

const MOST = 200;

/** The first page, oldest first. */
export const escalationsQuery = (status: EscalationStatus) =>
  queryOptions({
    queryKey: keys.escalationList(status),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/escalations", { params: { query: { status, limit: MOST } }, signal })),
  });

export const escalationQuery = (id: string) =>
  queryOptions({
    queryKey: keys.escalation(id),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/escalations/{escalation_id}", { params: { path: { escalation_id: id } }, signal }),
      ),
  });

/** Waits for the server. A second decision gets an ApiError 409 that says who decided, what and when. */
export const resolveEscalation = (id: string, body: Resolution, key: string): Promise<Escalation> =>
  unwrap(
    api.POST("/api/v1/escalations/{escalation_id}/resolve", {
      params: { path: { escalation_id: id }, header: { "idempotency-key": key } },
      body,
    }),
  );
