/** `/escalations/$id` */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

import { EscalationPage } from "@/features/escalations/EscalationPage";
import type { ReviewSearch } from "@/lib/search";

const route = getRouteApi("/escalations/$id");

export function EscalationRoute() {
  // While the router leaves this place, the page is drawn once more, without an id.
  const { id } = route.useParams() as { id: string | undefined };
  const { against = "base", view = "unified" } = route.useSearch();
  const navigate = useNavigate({ from: "/escalations/$id" });
  const show = useCallback(
    (change: ReviewSearch) =>
      void navigate({ search: (before) => ({ ...before, ...change }), resetScroll: false }),
    [navigate],
  );
  if (id === undefined) return null;
  return <EscalationPage key={id} id={id} shown={{ against, view }} onShow={show} />;
}
