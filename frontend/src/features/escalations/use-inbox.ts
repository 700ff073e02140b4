/** The escalations of the inbox, narrowed to what its address says. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { type InboxFilters, inboxQuery } from "@/lib/queries/escalations";
import { useMyName } from "@/lib/queries/me";
import type { EscalationsSearch } from "@/lib/search";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export function useInbox(search: EscalationsSearch) {
  const me = useMyName();
  return useInfiniteQuery({
    ...inboxQuery(useFilters(search, me)),
    placeholderData: keepPreviousData,
    // As long as the page does not know whose are *mine*, it would show everybody's.
    enabled: search.who !== "me" || me !== "",
  });
}

function useFilters(
  { status = "open", reason, kind, project, hours, who }: EscalationsSearch,
  me: string,
): InboxFilters {
  // It stays while the filter does: another moment would be another question, without the pages that are read.
  const until = useMemo(() => (hours ? momentBefore(hours) : undefined), [hours]);
  return useMemo(() => {
    return {
      status,
      ...(reason ? { reason } : {}),
      ...(kind ? { kind } : {}),
      ...(project ? { project } : {}),
      ...(until ? { until } : {}),
      ...(who === "me" ? { assigned: me } : {}),
      ...(who === "none" ? { unassigned: true } : {}),
    };
  }, [status, reason, kind, project, until, who, me]);
}

/** A whole minute: who comes back soon asks the same. */
function momentBefore(hours: number): string {
  return new Date(Math.floor(Date.now() / MINUTE) * MINUTE - hours * HOUR).toISOString();
}
