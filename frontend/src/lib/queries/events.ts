/** A page of a run's events over HTTP. */
import { api, unwrap } from "@/lib/api/client";
import type { RunEvent } from "@/lib/stream/frames";

const PAGE = 1000;

export async function fetchEventPage(runId: string, after: number): Promise<readonly RunEvent[]> {
  const page = await unwrap(
    api.GET("/api/v1/runs/{run_id}/events", {
      params: { path: { run_id: runId }, query: { after, limit: PAGE } },
    }),
  );
  // Text is what a client that asks for a stream gets.
  return typeof page === "string" ? [] : page.events;
}
