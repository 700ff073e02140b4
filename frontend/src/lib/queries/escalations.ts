/** Queries and the one command of escalations. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type Escalation = Schemas["EscalationView"];
export type EscalationDetail = Schemas["EscalationDetail"];
export type Resolution = Schemas["EscalationResolve"];
export type EscalationStatus = "open" | "resolved" | "withdrawn";

const MOST = 200;
const MOST_PAGES = 5;

/** The first thousand, oldest first; `next_cursor` leads to more. */
export const escalationsQuery = (status: EscalationStatus) =>
  queryOptions({
    queryKey: keys.escalationList(status),
    queryFn: ({ signal }) => fetchEscalations(status, signal),
  });

async function fetchEscalations(status: EscalationStatus, signal: AbortSignal) {
  const items: Escalation[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { status, limit: MOST, ...(cursor ? { cursor } : {}) };
    const found: Schemas["EscalationPage"] = await unwrap(
      api.GET("/api/v1/escalations", { params: { query }, signal }),
    );
    items.push(...found.items);
    cursor = found.next_cursor;
    if (cursor === null) break;
  }
  return { items, next_cursor: cursor };
}

/** What the inbox is narrowed to. */
export interface InboxFilters {
  readonly status: EscalationStatus;
  readonly kind?: Schemas["RunKind"] | undefined;
  readonly reason?: Schemas["EscalationReason"] | undefined;
  readonly project?: string | undefined;
  /** Only those of this reviewer. */
  readonly assigned?: string | undefined;
  readonly unassigned?: boolean | undefined;
  /** Escalated before this moment. */
  readonly until?: string | undefined;
}

const PAGE = 100;

/** Page by page, oldest first. */
export const inboxQuery = (filters: InboxFilters) =>
  infiniteQueryOptions({
    queryKey: [...keys.escalations, "inbox", filters],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const { kind, reason, project, ...rest } = filters;
      const query = {
        ...rest,
        kind: kind ? [kind] : [],
        reason: reason ? [reason] : [],
        project: project ? [project] : [],
        limit: PAGE,
        ...(pageParam ? { cursor: pageParam } : {}),
      };
      return unwrap(api.GET("/api/v1/escalations", { params: { query }, signal }));
    },
    getNextPageParam: (last) => last.next_cursor,
  });

/** Take an escalation for the caller; an ApiError 409 says who has it. */
export const assignEscalation = (id: string, takeOver: boolean): Promise<Escalation> =>
  unwrap(
    api.POST("/api/v1/escalations/{escalation_id}/assign", {
      params: { path: { escalation_id: id } },
      body: { take_over: takeOver },
    }),
  );

export const releaseEscalation = (id: string): Promise<Escalation> =>
  unwrap(
    api.DELETE("/api/v1/escalations/{escalation_id}/assign", { params: { path: { escalation_id: id } } }),
  );

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
