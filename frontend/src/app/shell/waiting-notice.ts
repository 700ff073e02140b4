/** How many runs need a person: in the title, and as a notification where the user has agreed to it. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { notifications } from "@/lib/notifications";
import { type Escalation, escalationsQuery } from "@/lib/queries/escalations";
import { documentTitle } from "@/lib/title";

export function useWaitingCount(): number {
  const { data } = useQuery(escalationsQuery("open"));
  return data?.items.length ?? 0;
}

export function useWaitingNotice(): void {
  const navigate = useNavigate();
  const { data } = useQuery(escalationsQuery("open"));
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!data) return;
    documentTitle.setWaiting(data.items.length);
    const open = (each: Escalation) => void navigate({ to: "/escalations/$id", params: { id: each.id } });
    // Those that were open when the page was loaded are no news.
    const fresh = known.current === null ? [] : data.items.filter((each) => !known.current?.has(each.id));
    for (const each of fresh)
      notifications.show(`${each.run_name} needs a person`, each.reason, () => open(each));
    known.current = new Set(data.items.map((each) => each.id));
  }, [data, navigate]);
}
