/** `/escalations` */
import { getRouteApi, useNavigate } from "@tanstack/react-router";

import { EscalationsPage } from "@/features/escalations/EscalationsPage";

const route = getRouteApi("/escalations");

export function EscalationsRoute() {
  const { status = "open" } = route.useSearch();
  const navigate = useNavigate({ from: "/escalations" });
  return (
    <EscalationsPage
      key={status}
      status={status}
      onStatus={(next) => void navigate({ search: { status: next } })}
    />
  );
}
