/** `/escalations` */
import { getRouteApi, useNavigate } from "@tanstack/react-router";

import { EscalationsPage } from "@/features/escalations/EscalationsPage";

const route = getRouteApi("/escalations");

export function EscalationsRoute() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/escalations" });
  return (
    <EscalationsPage
      key={search.status ?? "open"}
      search={search}
      onChange={(part) => void navigate({ search: (before) => ({ ...before, ...part }) })}
    />
  );
}
