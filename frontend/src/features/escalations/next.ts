/** Which escalation comes after the one that is shown, and the key that leads to it. */
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";

import type { Escalation } from "@/lib/queries/escalations";
import { type Action, useActions } from "@/lib/shortcuts";

/** The others that wait: the younger ones first, so that the next one leads through all. */
export function afterThis(
  queue: readonly Escalation[],
  { id, created_at: at }: Escalation,
): readonly Escalation[] {
  const others = queue.filter((each) => each.id !== id);
  return [
    ...others.filter((each) => each.created_at >= at),
    ...others.filter((each) => each.created_at < at),
  ];
}

export function useNextKey(next: string | null): void {
  const navigate = useNavigate();
  const offered = useMemo<readonly Action[]>(
    () =>
      next === null
        ? []
        : [
            {
              id: "next",
              label: "Next escalation that waits",
              keys: ".",
              group: "Decision",
              run: () => void navigate({ to: "/escalations/$id", params: { id: next } }),
            },
          ],
    [next, navigate],
  );
  useActions(offered);
}
