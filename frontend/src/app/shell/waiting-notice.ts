/** How many runs need a person: in the title, and as a notification where the user has agreed to it. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { notifications } from "@/lib/notifications";
import { type Escalation, escalationsQuery } from "@/lib/queries/escalations";
import { runCountsQuery } from "@/lib/queries/runs";
import { documentTitle } from "@/lib/title";

/** How many runs need a person. If the list does not hold all of them, the service counts. */
export function useWaitingCount(): number {
  const { data } = useQuery(escalationsQuery("open"));
  const isCut = Boolean(data?.next_cursor);
  const counts = useQuery({ ...runCountsQuery({}), enabled: isCut });
  const listed = data?.items.length ?? 0;
  return isCut ? Math.max(listed, counts.data?.needs_human ?? 0) : listed;
}

export function useWaitingNotice(): void {
  const navigate = useNavigate();
  const { data } = useQuery(escalationsQuery("open"));
  const waiting = useWaitingCount();
  useEffect(() => documentTitle.setWaiting(waiting), [waiting]);
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!data) return;
    const open = (each: Escalation) => void navigate({ to: "/escalations/$id", params: { id: each.id } });
    // Those that were open when the page was loaded are no news.
    const fresh = known.current === null ? [] : data.items.filter((each) => !known.current?.has(each.id));
    for (const each of fresh)
      notifications.show(`${each.run_name} needs a person`, each.reason, () => open(each));
    // Older ones move up into a list that does not hold all of them.
    known.current = data.next_cursor ? null : new Set(data.items.map((each) => each.id));
  }, [data, navigate]);
}
