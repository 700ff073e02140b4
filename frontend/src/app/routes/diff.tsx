/** `/sprints/$id/diff` */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

import { DiffPage } from "@/features/escalations/DiffPage";
import type { DiffSearch, ReviewSearch } from "@/lib/search";

const route = getRouteApi("/sprints/$id/diff");

export function DiffRoute() {
  const { id } = route.useParams();
  const { phase, attempt, candidate, against = "base", view = "unified" } = route.useSearch();
  const navigate = useNavigate({ from: "/sprints/$id/diff" });
  const show = useCallback(
    (change: ReviewSearch) =>
      void navigate({ search: (before) => ({ ...before, ...change }), resetScroll: false }),
    [navigate],
  );
  return (
    <DiffPage
      key={id}
      id={id}
      phase={phase}
      attempt={attempt}
      candidate={candidate}
      shown={{ against, view }}
      onShow={show}
      onAttempt={(phase, attempt) =>
        void navigate({
          search: (before) => ({
            ...before,
            phase: phase as NonNullable<DiffSearch["phase"]>,
            attempt,
            candidate: undefined,
          }),
        })
      }
    />
  );
}
