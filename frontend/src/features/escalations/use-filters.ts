/** What the inbox is narrowed to, as its address says it. */
import { useMemo } from "react";

import type { InboxFilters } from "@/lib/queries/escalations";
import { useMyName } from "@/lib/queries/me";
import type { EscalationsSearch } from "@/lib/search";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export function useFilters({
  status = "open",
  reason,
  kind,
  project,
  hours,
  who,
}: EscalationsSearch): InboxFilters {
  const me = useMyName();
  // It stays while the filter does: another moment would be another question, without the pages that are read.
  const until = useMemo(() => (hours ? momentBefore(hours) : undefined), [hours]);
  return useMemo(() => {
    return {
      status,
      ...(reason ? { reason } : {}),
      ...(kind ? { kind } : {}),
      ...(project ? { project } : {}),
      ...(until ? { until } : {}),
      ...(who === "me" && me ? { assigned: me } : {}),
      ...(who === "none" ? { unassigned: true } : {}),
    };
  }, [status, reason, kind, project, until, who, me]);
}

/** A whole minute: who comes back soon asks the same. */
function momentBefore(hours: number): string {
  return new Date(Math.floor(Date.now() / MINUTE) * MINUTE - hours * HOUR).toISOString();
}
